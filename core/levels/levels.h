// Levels: kinds of processors for which the hot loops are compiled, each once, and the choice between them.
//
// What a level offers is one table (`compiled_loops`), filled by level.cpp, which is compiled for each level.
// dispatch.cpp lists the tables and chooses the best that this processor can run, or the one that MARKONE_CPU names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bayes/counts.h"
#include "network/network.h"
#include "online/loops.h"
#include "rows/rows.h"

namespace markone {

// Only named here, because whoever needs one part would otherwise read the headers of all others.
template <class T>
struct common_course;
template <class T>
class replicas;
struct dual_settings;
class dual;
class objective;
struct templates;
struct tag_settings;
struct sequence_settings;
struct tagged_sentences;
struct token_features;
struct sparse_weights;
class lexicon;
class tagger_learner;
class tagging;
struct text_scorer;
struct scoring_buffers;

template <class T>
using replica_maker = std::unique_ptr<replicas<T>> (*)(const common_course<T>&);

// The learners that need all rows at once.
template <class Rows>
struct optimum_makers {
    std::unique_ptr<dual> (*make_dual)(const dual_settings&, const Rows&, const visits&, std::size_t features,
                                       std::size_t classes);
    std::unique_ptr<objective> (*make_objective)(const Rows&, const visits&, std::size_t classes);
};

struct compiled_loops {
    std::tuple<loops<float>, loops<double>> online;
    std::tuple<replica_maker<float>, replica_maker<double>> make_replicas;
    network_loops networks;
    std::tuple<optimum_makers<sparse_rows<float>>, optimum_makers<sparse_rows<double>>,
               optimum_makers<dense_rows<float>>, optimum_makers<dense_rows<double>>>
        optimum;
    std::unique_ptr<tagger_learner> (*make_tagger_learner)(const templates&, const tag_settings&,
                                                           const sequence_settings&, const tagged_sentences&,
                                                           const token_features&);
    std::unique_ptr<tagging> (*make_tagging)(const templates&, const tag_settings&, const lexicon&,
                                             const sparse_weights&);
    std::tuple<bayes::loops_of<sparse_rows<float>>, bayes::loops_of<sparse_rows<double>>,
               bayes::loops_of<dense_rows<float>>, bayes::loops_of<dense_rows<double>>>
        events;
    // Writes the scores of all texts; those of text i go to out + i * columns.
    void (*score_texts)(const text_scorer&, scoring_buffers&, std::span<const std::vector<std::string_view>> columns,
                        float* out);
};

struct level {
    std::string name;
    const compiled_loops& (*loops)();
    std::vector<std::string> missing;  // what a processor needs for it, and this one does not have
};

// Thrown for a MARKONE_CPU that cannot be had. The message continues a sentence that begins with that name.
struct wrong_level : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// All that were built, from the slowest, which runs everywhere, to the fastest.
const std::vector<level>& all_levels();
// The one that is used, for as long as the process lives.
const level& best_level();
inline const compiled_loops& at_best_level() {
    return best_level().loops();
}

template <class Rows>
const optimum_makers<Rows>& best_optimum_makers() {
    return std::get<optimum_makers<Rows>>(at_best_level().optimum);
}
template <class Rows>
const bayes::loops_of<Rows>& best_event_loops() {
    return std::get<bayes::loops_of<Rows>>(at_best_level().events);
}

}  // namespace markone
