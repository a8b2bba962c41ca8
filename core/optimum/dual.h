// The linear support vector machine by dual coordinate descent: one example after the other takes the best value for
// its own multipliers, while those of all others stay (Hsieh et al. 2008; for more than two classes Keerthi et al.
// 2008, on the problem of Crammer & Singer 2001).
//
//   primal   P(w) = |w|^2 / 2 + sum C_i loss_i                 loss = max(0, lack), or its square
//   dual     D(a) = sum a_i - |w|^2 / 2 [- sum a_i^2 / 4C_i]   the last term where the loss is squared
//
// Two classes:   lack_i = 1 - y_i w x_i,   w = sum a_i y_i x_i,   0 <= a_i <= C_i (no upper bound if squared).
// More classes:  lack_i = max over k != y_i of 1 + w_k x_i - w_y x_i, and each example has a multiplier for each class:
//   w_k = sum a_ik x_i,   a_ik <= 0 for k != y_i,   a_iy <= C_i (if not squared),   sum over k of a_ik = 0;   a_i =
//   a_iy.
//
// C_i is C times the example's importance; examples of no importance are not there. The bias is the weight of a feature
// that is always 1, and part of w. An infinite C asks for a hard margin.
//
// D <= P always, and P(w) - D(a) is the duality gap. The w of the multipliers makes P small only in the end, and jumps
// about on the way. So the best weights so far are kept beside it: those between the old best and the new w for which P
// is smallest, which is a search on a line through margins that are known anyway.
//
// Steps go a little further than is best for one example alone, because the next ones pull it back: over-relaxation,
// which saves every tenth pass.
//
// Examples whose multipliers are at a bound and pull well into it rest (shrinking), and so do the wrong classes of an
// example that are far from being its rival. Every measurement of P sees the scores of all examples, and wakes those
// that would move. Who did not move at a visit takes a nap: of one pass, then of two, four and so on.
//
// A solver may have a part of the examples only, and others have the rest (CoCoA: Jaggi et al. 2014, Ma et al. 2015).
// All start a pass at the same w, and add up their moves of it. Each steps as if the others moved w as it does itself:
// its own w goes `spread` times as far as its multipliers say. With a spread of as many parts as there are, the sum of
// the moves makes the dual no smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/memory.h"
#include "base/order.h"
#include "online/loops.h"
#include "online/weights.h"

namespace markone {

struct dual_settings {
    double C;
    bool squared;
    bool bias;
};

class dual {
  public:
    static constexpr double longest_step = 2;  // from the best weights towards w, in lengths of the way between them

    // Passes that an example sits out: none, some (a nap), or all until it is woken. Where `visited` is added it was
    // visited in this pass, and they begin with the next.
    static constexpr std::uint8_t awake = 0, asleep = 127, visited = 128, longest_nap = 8;

    // How far multipliers could still move, as seen in a pass.
    struct sights {
        double most = 0;   // the largest slope among those that would fall
        double least = 0;  // the smallest among those that would grow
        double gap = 0;    // the sum of the examples' parts of the duality gap, each at its visit
    };

    virtual ~dual() = default;

    dual_settings how;
    const std::size_t features, classes, stride;
    std::vector<std::uint32_t> numbers;  // of the examples, among the rows
    std::vector<std::uint32_t> labels;   // of the examples
    std::vector<double> alpha;           // examples x stride
    std::vector<std::uint8_t> pauses;
    std::vector<std::uint8_t> naps;  // the length of each example's last one
    std::vector<std::uint64_t>
        rivals;                       // examples x words: a bit for each class that is not at rest; of two classes none
    table<double> w;                  // (features + 1) x stride, of these multipliers; the last row is the bias
    table<double> best;               // the best weights so far
    std::vector<double> best_scores;  // by them: examples x stride; of two classes the margins
    double primal = 0;                // of the best weights
    double own = 0;                   // the primal of w when it was measured last
    double bound = 0;                 // the dual, after the last whole pass
    double norm2 = 0;                 // of w, likewise
    double typical2 = 0;              // the mean squared length of the rows, each as often as its importance says
    sights before, now;               // in the last whole pass, and in this one so far
    double spread = 1;                // how far w goes for a step of the multipliers, in a pass over a part
    bool part = false;                // whether it has made such a pass
    bool hopeless = false;            // a row of nothing but zeros was to have a margin, and a hard one

    std::size_t size() const { return numbers.size(); }
    std::size_t columns() const { return columns_of(classes); }
    std::size_t words() const { return classes <= 2 ? 0 : (classes + 63) / 64; }
    std::size_t left() const { return order.size() - at; }
    // The row that was visited last in this pass.
    std::optional<std::uint32_t> last() const { return at == 0 ? std::nullopt : std::optional(numbers[order[at - 1]]); }
    bool hard() const { return how.C == std::numeric_limits<double>::infinity(); }

    // Begins a pass: whom to visit, in which order (as given without a seed). The first `skip` visits were made before,
    // and `now` is of them.
    void begin_pass(std::optional<std::uint64_t> seed, std::size_t skip) {
        at = 0;
        order.resize(size());
        std::size_t count = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            order[count] = static_cast<std::uint32_t>(i);
            count += pauses[i] == awake || pauses[i] >= visited;
        }
        order.resize(count);
        if (seed) shuffle(std::span(order), *seed);
        if (skip > count) throw std::invalid_argument("a pass has fewer visits than are to be skipped");
        at = skip;
        partial = false;
        if (skip == 0) now = {};
    }
    // Begins visits to these examples alone, in this order, whether they rest or not.
    void begin_visits(std::span<const std::int64_t> which) {
        std::vector<std::uint32_t> wanted;
        wanted.reserve(which.size());
        for (const std::int64_t& one : which) {
            const std::int64_t i = read_once(one);
            if (i < 0 || static_cast<std::size_t>(i) >= size()) throw std::out_of_range("no such example");
            wanted.push_back(static_cast<std::uint32_t>(i));
        }
        order.swap(wanted);
        at = 0;
        partial = true;
        now = {};
    }
    // Makes the next visits of the pass, so many at most; the last one ends it.
    virtual tally learn(std::size_t most) = 0;
    // Finds the primal of w, and better best weights with it; wakes those that would move.
    virtual void measure() = 0;
    // Makes a pass over a part of all examples from the weights of all, and leaves in w how far its multipliers have
    // moved them.
    tally learn_part(std::span<const double> weights, double as_far, std::optional<std::uint64_t> seed) {
        w.assign(weights.begin(), weights.end());
        spread = as_far;
        part = true;
        begin_pass(seed, 0);
        const tally sums = learn(left());
        for (std::size_t f = 0; f < w.size(); ++f) w[f] = (w[f] - weights[f]) / spread;
        return sums;
    }
    // Wakes those that would move at some weights. Puts the costs on the way there from others into `costs`, at as many
    // points as these are, from none of the way to the longest step.
    virtual void measure_part(std::span<const double> from, std::span<const double> to, std::span<double> costs) = 0;
    // Goes on from other multipliers, which are cut to their bounds.
    virtual void start_at(std::span<const double> from) = 0;
    // The example and the wrong class with the smallest margin by some weights, of the form of w.
    struct narrowest {
        double margin;
        std::size_t i, rival;
    };
    virtual narrowest narrow(std::span<const double> weights) const = 0;
    // Writes an example out: a number for each feature, and one for the bias.
    virtual void write(std::size_t i, double* out) const = 0;
    // Another C. All multipliers shrink with it, or grow as far as that makes the dual larger; the best weights are
    // forgotten.
    virtual void scale_to(double C) = 0;
    // Another C, of which the multipliers are that will come.
    virtual void set_C(double C) = 0;
    // The highest multiplier that an example, or its right class, could have with another C.
    virtual double cap_for(std::size_t i, double C) const = 0;

  protected:
    dual(const dual_settings& how, std::size_t features, std::size_t classes)
        : how(how),
          features(features),
          classes(classes),
          stride(stride_of(classes)),
          w((features + 1) * stride),
          best((features + 1) * stride) {}

    std::vector<std::uint32_t> order;  // of the visits of this pass
    std::size_t at = 0;
    bool partial = false;  // whether it is a pass over chosen examples, which tells nothing of the others
};

}  // namespace markone
