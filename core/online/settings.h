// What is set about learning: fixed for the life of a learner, and checked in Python (markone.model.settings).
#pragma once

#include <string>

namespace markone {

enum class schedule { constant, sqrt, inverse, adagrad };
enum class penalty { none, l1, l2 };

// What a score of 0, or two equal best scores, means: the first class, the last class, or (while learning) a mistake
// whatever the label, and the first class when an answer is needed.
enum class tie { negative, error, positive };

// When mira steps: whenever the margin is below 1, or on a mistake only.
enum class update { margin, mistake };

struct settings {
    std::string rule;  // by its name in rules.h
    markone::schedule schedule = schedule::constant;
    markone::penalty penalty = penalty::none;
    tie ties = tie::error;
    markone::update update = update::margin;
    double eta = 1;           // the rate, or its first value
    double C = 1;             // mira's longest step
    double strength = 0;      // of the penalty
    bool difference = false;  // the form of the perceptron's step, and of mira's cap (rules.h)
    bool average = true;
    bool bias = true;
};

}  // namespace markone
