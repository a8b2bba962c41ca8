// The guide: a short story for each data set, with one primary button and, before a step, one question.

import { element } from "../draw/shapes.js";
import { isStraight } from "../learn/features.js";
import { turnOf } from "../state.js";
import * as words from "../words.js";

const { GUIDE } = words;

export function storyOf(state) {
  return words.STORIES[state.tab === "text" ? state.texts.preset : state.preset] ?? words.ANY_STORY;
}

/** The question before the next step: its text, the possible answers, and the right one. */
export function questionOf({ run, now, state }) {
  if (now.number >= run.length) return null;
  const straight = state.tab === "points" && isStraight(state.features);
  const after = run.after(now.number + 1).numbers;
  const turn = turnOf(run, now.after, after, straight);
  const isFirst = now.after.every((value) => value === 0);
  if (run.isNetwork || run.learner.classes > 2 || !straight || isFirst) {
    const text = isFirst && straight && run.learner.classes === 2 ? GUIDE.firstQuestion : GUIDE.bendQuestion;
    return { text, answers: ["yes", "no"], right: turn === "stays" ? "no" : "yes", turn };
  }
  return { text: GUIDE.question, answers: ["left", "right", "stays"], right: turn === "left" || turn === "right" ? turn : "stays", turn };
}

export function mountGuide(store) {
  const root = document.getElementById("guide");
  const text = element("p", { id: "guide-text" });
  const question = element("p", { id: "guide-question" });
  const feedback = element("p", { id: "guide-feedback", className: "feedback" });
  const answers = element("div", { className: "row", id: "guide-answers" });
  const primary = element("button", { type: "button", id: "guide-next", className: "primary", title: "Go on (Enter)" });
  const progress = element("span", { className: "quiet" });
  root.append(text, question, feedback, answers, element("div", { className: "row" }, primary, progress));
  let view = null;
  let asked = null;

  const forward = () => {
    const state = store.get();
    const story = storyOf(state);
    const card = story[state.card];
    if (state.playing) return;
    if (card.then === "step" && !state.answer && view.now.number < view.run.length) {
      store.dispatch({ type: "go", step: state.step + 1, last: view.last });
      store.dispatch({ type: "answer", value: { given: null } });
      return;
    }
    if (card.then === "play" && !state.answer) {
      if (card.set) store.dispatch({ type: "set", change: { ...card.set, step: 0 }, playing: true });
      else store.dispatch({ type: "playing", value: true });
      store.dispatch({ type: "speed", value: Math.max(state.speed, 30) });
      store.dispatch({ type: "answer", value: { given: null, played: true } });
      return;
    }
    if (state.card + 1 < story.length) store.dispatch({ type: "card", value: state.card + 1 });
    else store.dispatch({ type: "guided", value: false });
  };
  primary.onclick = forward;

  const update = (next) => {
    view = next;
    const { state, now } = next;
    root.hidden = !state.guided;
    if (!state.guided) return;
    const story = storyOf(state);
    const number = Math.min(state.card, story.length - 1);
    const card = story[number];
    text.textContent = card.say;
    progress.textContent = GUIDE.progress(number + 1, story.length);
    const open = card.then === "step" && !state.answer ? questionOf(next) : null;
    question.hidden = !open;
    answers.hidden = !open;
    if (open) {
      question.textContent = open.text;
      const key = open.answers.join();
      if (asked !== key) {
        asked = key;
        answers.replaceChildren(
          ...open.answers.map((one) =>
            element("button", {
              type: "button",
              textContent: GUIDE.answers[one],
              onclick: () => {
                const now = questionOf(view);
                store.dispatch({ type: "go", step: store.get().step + 1, last: view.last });
                store.dispatch({ type: "answer", value: { given: one, good: one === now.right, turn: now.turn } });
                primary.focus();
              },
            }),
          ),
        );
      }
    }
    const { answer } = state;
    feedback.hidden = !(answer?.given || (card.then === "step" && !open && !answer));
    if (answer?.given) feedback.textContent = `${answer.good ? GUIDE.good : GUIDE.other} ${state.tab === "text" && answer.turn !== "stays" ? "" : words.TURNS[answer.turn]}`;
    else feedback.textContent = GUIDE.ended;
    const isLast = number === story.length - 1;
    const waits = card.then === "play" && !answer;
    primary.textContent = waits ? card.button : open ? GUIDE.step : isLast ? GUIDE.free : GUIDE.next;
    primary.disabled = state.playing && now.number < next.last;
  };
  return { update, forward };
}
