// Answers the questions of the tests with the modules of the page: in Node, from standard input to standard output; and
// in a browser, by `answer`. Floats are written as their 64 bits, so that nothing is rounded on the way.

const bits = new DataView(new ArrayBuffer(8));
const hex = (value) => {
  bits.setFloat64(0, value);
  return bits.getBigUint64(0).toString(16).padStart(16, "0");
};
const hexes = (values) => Array.from(values, hex);

export async function answer(base, questions) {
  const part = (name) => import(`${base}/${name}`);
  const { PRESETS, TEXTS } = await part("learn/presets.js");
  const { chosenFeatures, examplesOfPoints, examplesOfTexts, wordsOf } = await part("learn/features.js");
  const { makeRun, newLearner } = await part("learn/run.js");
  const { certify } = await part("learn/certificate.js");
  const { RandomBits, mixedSeed, shuffled } = await part("learn/random.js");
  const { xxh3, modelFile } = await part("learn/modelfile.js");
  const { OF_NUMBERS, OF_TEXTS, VERSION } = await part("learn/spec.js");
  const { codeOfPoints, codeOfTexts } = await part("learn/code.js");
  const { pointsOf, textsOfPaste, toCsv } = await part("learn/csv.js");
  const { LEARNER, preparedPoints, startState, reduce, derive } = await part("state.js");
  const { fromAddress, toAddress } = await part("url.js");
  const { LESSONS, MACHINE, answerOf, changeMachine, newMachine, partsOf } = await part("learn/machine.js");

  const examplesOf = ({ points, classes, features, bias }) => examplesOfPoints(points, features, bias, classes);
  const runOf = (asked) => {
    const settings = { ...LEARNER, ...asked.settings };
    const examples = asked.lines ? examplesOfTexts(asked.lines, true, asked.classes) : examplesOf(asked);
    return { examples, settings, run: makeRun(examples, settings) };
  };

  const answers = {
    presets: () => ({
      points: PRESETS.map((one) => ({ ...one, points: one.points() })),
      texts: TEXTS.map((one) => ({ ...one, lines: one.lines.map(([text, y]) => ({ text, y })) })),
    }),
    random: ({ seeds, items }) => {
      const random = new RandomBits(mixedSeed(seeds));
      return { seed: mixedSeed(seeds).toString(), order: shuffled(items, ...seeds), uniform: hexes([random.uniform(), random.uniform()]), normal: hex(random.normal()), below: random.below(1000) };
    },
    run: (asked) => {
      const { run, settings, examples } = runOf(asked);
      return {
        names: examples.names,
        start: hexes(newLearner(examples, settings).numbers),
        stopped: run.stopped,
        steps: run.steps.map((step, i) => {
          const { numbers, average } = run.after(i + 1);
          return { pass: step.pass, row: step.row, scores: hexes(step.scores), said: step.said, wrong: step.wrong, loss: hex(step.loss), numbers: hexes(numbers), average: hexes(average), norm2: hex(step.norm2), mistakes: step.mistakes };
        }),
      };
    },
    rewind: (asked) => {
      const { run } = runOf(asked);
      const forward = Array.from({ length: run.length + 1 }, (_, i) => hexes(run.after(i).numbers).join());
      const places = Array.from({ length: run.length + 1 }, (_, i) => (i * 37) % (run.length + 1));
      return { steps: run.length, same: places.every((i) => hexes(run.after(i).numbers).join() === forward[i]) && [...places].reverse().every((i) => hexes(run.after(i).numbers).join() === forward[i]) };
    },
    certify: (asked) => {
      const examples = examplesOf(asked);
      const found = certify(examples.rows, examples.classes.length, examples.names.length);
      return found && { ...found, w: found.w && [...found.w], rows: examples.rows };
    },
    xxh3: ({ sizes }) => sizes.map((size) => xxh3(Uint8Array.from({ length: size }, (_, i) => (i * 37 + 11) % 256))),
    spec: () => ({ numbers: OF_NUMBERS, texts: OF_TEXTS, version: VERSION }),
    model: (asked) => {
      const { run, examples } = runOf(asked);
      const moment = run.after(run.length);
      const numbers = asked.averaged ? moment.average : moment.numbers;
      return {
        bytes: Array.from(modelFile(run, numbers, { averaged: Boolean(asked.averaged), ofTexts: Boolean(asked.lines) })),
        scores: examples.rows.map((row) => run.learner.scores(row, numbers)),
        csv: asked.points ? toCsv(asked.points, asked.classes, chosenFeatures(asked.features)) : null,
      };
    },
    code: (asked) => {
      const { run, examples, settings } = runOf(asked);
      const given = { examples, settings, averaged: false, lines: asked.lines };
      return { code: asked.lines ? codeOfTexts(given) : codeOfPoints(given), numbers: [...run.after(run.length).numbers], mistakes: run.steps.at(-1)?.mistakes ?? 0, steps: run.length, names: examples.names };
    },
    paste: ({ text, texts }) => {
      try {
        return texts ? textsOfPaste(text) : pointsOf(text);
      } catch (error) {
        if (!error.kind) throw error;
        return { error: error.kind, facts: error.facts };
      }
    },
    words: ({ text }) => wordsOf(text),
    prepared: ({ points, classes, noise, holdout, seed }) => preparedPoints(points, classes, noise, holdout, seed),
    address: ({ actions }) => {
      const state = actions.reduce(reduce, startState());
      const text = toAddress(state);
      const again = text === null ? null : fromAddress(text, startState());
      const told = ({ tab, points, classes, texts, features, bias, learner, second, average, noise, holdout, step, guided }) => ({ tab, points, classes, texts, features, bias, learner, second, average, noise, holdout, step, guided });
      return { text, before: told(state), after: again && told(again.state), wrong: again?.wrong };
    },
    read: ({ text }) => {
      const { state, wrong } = fromAddress(text, startState());
      return { wrong, steps: derive(state).run.length };
    },
    machine: ({ settings, actions }) => {
      const told = (machine) => {
        const { activity, score, said } = answerOf(machine);
        return { cells: [...machine.cells], y: machine.y, at: activity.at, score: hex(score), said, w: hexes(machine.w), last: machine.last && { ...machine.last, score: hex(machine.last.score) }, taught: machine.taught, mistakes: machine.mistakes, left: machine.left, measured: machine.curve.at(-1) };
      };
      let machine = newMachine({ ...MACHINE, ...settings });
      const { wires, tests } = partsOf(machine.settings);
      const moments = [told(machine), ...actions.map((action) => told((machine = changeMachine(machine, action))))];
      const address = toAddress({ ...startState(), tab: "machine", machine });
      const again = fromAddress(address, startState());
      return { lessons: LESSONS, settings: machine.settings, wires, tests: Object.fromEntries(tests), moments, address, again: { tab: again.state.tab, settings: again.state.machine.settings, wrong: again.wrong } };
    },
    ends: ({ actions }) => {
      const view = derive(actions.reduce(reduce, startState()));
      return { stopped: view.run.stopped, steps: view.run.length, last: view.last, separable: view.certificate?.separable ?? null, bound: view.certificate?.bound ?? null, mistakes: view.run.steps.at(-1)?.mistakes ?? 0, accuracy: view.curves.last.at(-1), held: view.curves.heldLast.at(-1), heldAverage: view.curves.heldAverage.at(-1) ?? null };
    },
  };
  return questions.map(({ ask, ...rest }) => answers[ask](rest));
}

// Node stays open for many tests: a line of questions, a line of answers.
if (typeof process !== "undefined" && process.argv[2]) {
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await answer(process.argv[2], JSON.parse(line)))}\n`);
  }
}
