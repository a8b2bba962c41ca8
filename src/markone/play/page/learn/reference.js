// The twin of `markone.reference`: every rule beside its formula, with the same order of additions, so that sums and
// products have the same bits as in Python. Only exp and log may differ in the last digit.
//
// A row is {at: feature numbers, value: their values, y: class number}. The bias, if there is one, is the last feature.

/** The activation: the sum of weight times value over all features. */
export function dot(w, x, from = 0) {
  let sum = 0;
  for (let i = 0; i < x.at.length; i++) sum += w[from + x.at[i]] * x.value[i];
  return sum;
}

export function length2(values) {
  let sum = 0;
  for (const value of values) sum += value * value;
  return sum;
}

export function softmax(scores) {
  const most = Math.max(...scores);
  const odds = scores.map((s) => Math.exp(s - most));
  let sum = 0;
  for (const odd of odds) sum += odd;
  return odds.map((odd) => odd / sum);
}

/** The class with the highest score. Among equal scores it is the last if ties are positive, otherwise the first. */
export function winner(scores, among, tie) {
  let best = among[0];
  for (const k of among) if (scores[k] > scores[best] || (tie === "positive" && scores[k] === scores[best])) best = k;
  return best;
}

/** One weight vector for each class. With two classes, the vector of the first class is always zero. */
export class Learner {
  constructor({ classes, features, rule = "perceptron", eta = 1, C = 1, tie = "error", form = "label", update = "margin" }) {
    Object.assign(this, { classes, features, rule, eta, C, tie, form, update });
    this.all = Array.from({ length: classes }, (_, k) => k);
    this.moving = classes === 2 ? [1] : this.all;
    this.numbers = new Float64Array(classes * features); // the weights of all classes, one after the other
    this.sums = new Float64Array(classes * features);
    this.t = 0;
  }

  scores(x, numbers = this.numbers) {
    return this.all.map((k) => (this.moving.includes(k) ? dot(numbers, x, k * this.features) : 0));
  }

  /** The mean of the weight vectors after each visit. */
  average() {
    return this.sums.map((value) => value / this.t);
  }

  predict(x, numbers = this.numbers) {
    return winner(this.scores(x, numbers), this.all, this.tie);
  }

  /** Visits one example: score, step, average. Returns what happened. */
  visit(x) {
    const { y } = x;
    const scores = this.scores(x);
    const rival = winner(scores, this.all.filter((k) => k !== y), this.tie);
    const margin = scores[y] - scores[rival];
    const wrong = margin < 0 || (margin === 0 && this.isLost(y, rival));
    const rate = this.rule === "mira" ? 1 : this.eta;
    const pulls = this.pulls(x, scores, rival, margin, wrong);
    for (const [k, pull] of pulls) {
      for (let i = 0; i < x.at.length; i++) this.numbers[k * this.features + x.at[i]] += rate * pull * x.value[i];
    }
    this.t += 1;
    for (let i = 0; i < this.sums.length; i++) this.sums[i] += this.numbers[i];
    const said = winner(scores, this.all, this.tie);
    return { scores, rival, margin, wrong, said, rate, pulls, loss: this.loss(scores, y, margin) };
  }

  /** Whether a tie between the right class and its rival is a mistake. */
  isLost(y, rival) {
    return { error: true, negative: rival < y, positive: rival > y }[this.tie];
  }

  /** The factor of the step for the weight vector of each class, as pairs of class and factor. */
  pulls(x, scores, rival, margin, wrong) {
    const { y } = x;
    if (this.rule === "logistic") {
      // w_k += eta ([k = y] - p_k) x
      const p = softmax(scores);
      return this.moving.map((k) => [k, (k === y ? 1 : 0) - p[k]]);
    }
    const moved = [[y, 1], [rival, -1]].filter(([k]) => this.moving.includes(k));
    let pull;
    if (this.rule === "perceptron") {
      // on a mistake w_y += eta x, w_rival -= eta x; the form "difference" is eta (y - f(x)) x, twice as long
      const twice = this.form === "difference" && !(margin === 0 && this.tie === "error");
      pull = wrong ? (twice ? 2 : 1) : 0;
    } else if (this.rule === "mira") {
      // tau = min(C, (1 - margin) / |change|^2): the shortest step that wins by 1, on a mistake or below that margin
      const norm2 = moved.length * length2(x.value);
      const loss = 1 - margin > 0 ? 1 - margin : 0;
      const most = this.classes === 2 && this.form === "difference" ? 2 * this.C : this.C;
      const tau = norm2 ? (loss / norm2 < most ? loss / norm2 : most) : 0;
      pull = wrong || this.update === "margin" ? tau : 0;
    } else {
      // hinge: a step while the margin is below 1
      pull = margin < 1 ? 1 : 0;
    }
    return moved.map(([k, sign]) => [k, sign * pull]);
  }

  loss(scores, y, margin) {
    if (this.rule === "logistic") return -Math.log(softmax(scores)[y]);
    const loss = this.rule === "perceptron" ? -margin : 1 - margin;
    return loss > 0 ? loss : 0;
  }
}

const ACTIVATIONS = {
  relu: { of: (z) => (z > 0 ? z : 0), slope: (_, z) => (z > 0 ? 1 : 0) },
  tanh: { of: Math.tanh, slope: (a) => 1 - a * a },
  sigmoid: { of: (z) => 1 / (1 + Math.exp(-z)), slope: (a) => a * (1 - a) },
};

/** A network with one hidden layer. Two classes share one output. Its numbers stand in one array: for each hidden unit
 * its weights and its bias, then the same for each output. */
export class Network {
  constructor({ classes, inputs, hidden, activation = "tanh", eta = 1, tie = "error", numbers = null }) {
    Object.assign(this, { classes, inputs, hidden, activation, eta, tie });
    this.outputs = classes === 2 ? 1 : classes;
    this.all = Array.from({ length: classes }, (_, k) => k);
    this.numbers = numbers ?? new Float64Array(hidden * (inputs + 1) + this.outputs * (hidden + 1));
  }

  forward(x, numbers) {
    const { of } = ACTIVATIONS[this.activation];
    const z = [], a = [], scores = [];
    let at = 0;
    for (let j = 0; j < this.hidden; j++) {
      let sum = 0;
      for (let i = 0; i < this.inputs; i++) sum += x.value[i] * numbers[at++];
      z.push(sum + numbers[at++]);
      a.push(of(z[j]));
    }
    for (let k = 0; k < this.outputs; k++) {
      let sum = 0;
      for (let j = 0; j < this.hidden; j++) sum += a[j] * numbers[at++];
      scores.push(sum + numbers[at++]);
    }
    return { z, a, scores: this.outputs === 1 ? [0, scores[0]] : scores };
  }

  scores(x, numbers = this.numbers) {
    return this.forward(x, numbers).scores;
  }

  predict(x, numbers = this.numbers) {
    return winner(this.scores(x, numbers), this.all, this.tie);
  }

  /** Visits one example: backpropagation of ln(sum of exp(s)) - s_y, and a step against the gradient. */
  visit(x) {
    const { y } = x;
    const { slope } = ACTIVATIONS[this.activation];
    const { z, a, scores } = this.forward(x, this.numbers);
    const said = winner(scores, this.all, this.tie);
    const odds = scores.map(Math.exp);
    let total = 0;
    for (const odd of odds) total += odd;
    const errors = odds.map((odd, k) => odd / total - (k === y ? 1 : 0)).slice(this.classes - this.outputs);
    const second = this.hidden * (this.inputs + 1);
    const gradient = new Float64Array(this.numbers.length);
    const back = new Float64Array(this.hidden);
    errors.forEach((error, k) => {
      const at = second + k * (this.hidden + 1);
      for (let j = 0; j < this.hidden; j++) {
        gradient[at + j] = error * a[j];
        back[j] += error * this.numbers[at + j];
      }
      gradient[at + this.hidden] = error;
    });
    for (let j = 0; j < this.hidden; j++) {
      const error = back[j] * slope(a[j], z[j]);
      const at = j * (this.inputs + 1);
      for (let i = 0; i < this.inputs; i++) gradient[at + i] = error * x.value[i];
      gradient[at + this.inputs] = error;
    }
    for (let i = 0; i < gradient.length; i++) this.numbers[i] -= this.eta * gradient[i];
    const others = scores.filter((_, k) => k !== y);
    const margin = scores[y] - Math.max(...others);
    const lost = margin === 0 && (this.tie === "error" || said !== y);
    return { scores, margin, wrong: margin < 0 || lost, said, loss: Math.log(total) - scores[y] };
  }
}
