// The table of one level. Compiled once for each MARKONE_LEVEL: `baseline` for every processor, `v3` for x86-64-v3.
#include "levels/levels.h"

namespace markone::MARKONE_LEVEL {

const loops<float>& loops32();             // online/loops.cpp
const loops<double>& loops64();            // online/loops.cpp
const network_loops& loops_of_networks();  // network/network.cpp
const compiled_loops& loops_of_level();

// leave_one_out/replicas.cpp
std::unique_ptr<replicas<float>> make_replicas(const common_course<float>&);
std::unique_ptr<replicas<double>> make_replicas(const common_course<double>&);

// optimum/dual.cpp and optimum/objective.cpp, which have an overload for each kind of rows
template <class Rows>
std::unique_ptr<dual> make_dual(const dual_settings&, const Rows&, const visits&, std::size_t, std::size_t);
template <class Rows>
std::unique_ptr<objective> make_objective(const Rows&, const visits&, std::size_t);

// tagging/sequence_learner.cpp and tagging/sequence_tagging.cpp
std::unique_ptr<tagger_learner> make_tagger_learner(const templates&, const tag_settings&, const sequence_settings&,
                                                    const tagged_sentences&, const token_features&);
std::unique_ptr<tagging> make_tagging(const templates&, const tag_settings&, const lexicon&, const sparse_weights&);

// bayes/counting.cpp
template <class Rows>
bayes::loops_of<Rows> loops_of_events();
template <>
bayes::loops_of<sparse_rows<float>> loops_of_events();
template <>
bayes::loops_of<sparse_rows<double>> loops_of_events();
template <>
bayes::loops_of<dense_rows<float>> loops_of_events();
template <>
bayes::loops_of<dense_rows<double>> loops_of_events();

// text/text_scorer.cpp
void score_texts(const text_scorer&, scoring_buffers&, std::span<const std::vector<std::string_view>>, float*);

template <class Rows>
optimum_makers<Rows> makers_of() {
    return {make_dual<Rows>, make_objective<Rows>};
}

const compiled_loops& loops_of_level() {
    static const compiled_loops all = {
        {loops32(), loops64()},
        {make_replicas, make_replicas},
        loops_of_networks(),
        {makers_of<sparse_rows<float>>(), makers_of<sparse_rows<double>>(), makers_of<dense_rows<float>>(),
         makers_of<dense_rows<double>>()},
        make_tagger_learner,
        make_tagging,
        {loops_of_events<sparse_rows<float>>(), loops_of_events<sparse_rows<double>>(),
         loops_of_events<dense_rows<float>>(), loops_of_events<dense_rows<double>>()},
        score_texts,
    };
    return all;
}

}  // namespace markone::MARKONE_LEVEL
