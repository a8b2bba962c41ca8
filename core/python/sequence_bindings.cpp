// Python bindings of taggers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "levels/levels.h"
#include "online/loops.h"
#include "python/numpy.h"
#include "tagging/sequence.h"

using namespace nanobind::literals;

namespace markone {

void bind_sequences(nb::module_& m);

namespace {

// ---- from Python

using text_arrays = std::pair<array<std::uint8_t, 1>, array<std::int64_t, 1>>;
using row_arrays_of_keys =
    std::tuple<array<std::uint64_t, 1>, array<std::int64_t, 1>, array<std::uint32_t, 1>, array<float, 1>>;
using word_arrays =
    std::tuple<array<std::uint64_t, 1>, array<std::uint32_t, 1>, array<std::int64_t, 1>, array<std::uint8_t, 1>>;

template <class T>
std::vector<T> copy_of(const array<T, 1>& from) {
    return {from.data(), from.data() + from.size()};
}

sentence_batch batch_of(const array<std::int64_t, 1>& starts, const std::vector<text_arrays>& columns,
                        std::size_t wanted) {
    sentence_batch batch{view(starts), {}};
    for (const auto& [bytes, offsets] : columns) batch.columns.push_back({view(bytes), view(offsets)});
    batch.check(wanted);
    return batch;
}

sparse_weights weights_of(const row_arrays_of_keys& from) {
    const auto& [keys, indptr, columns, weights] = from;
    return {copy_of(keys), copy_of(indptr), copy_of(columns), copy_of(weights)};
}

lexicon words_of(const word_arrays& from) {
    const auto& [words, sets, offsets, bytes] = from;
    name_list names;
    names.offsets = copy_of(offsets);
    names.bytes = copy_of(bytes);
    bool good = !names.offsets.empty() && names.offsets[0] == 0 &&
                names.offsets.back() == static_cast<std::int64_t>(names.bytes.size());
    for (std::size_t i = 1; good && i < names.offsets.size(); ++i) good = names.offsets[i] >= names.offsets[i - 1];
    if (!good) throw std::invalid_argument("the names of tags known do not fit together");
    return {view(words), view(sets), std::move(names)};
}

template <class T>
array<T, 1> member(const nb::dict& of, const char* name) {
    return nb::cast<array<T, 1>>(of[name], false);
}

// ---- to Python

template <class T>
numpy<T> copied(std::span<const T> from) {
    return own(std::vector<T>(from.begin(), from.end()));
}

using rows_for_python = std::tuple<numpy<std::uint64_t>, numpy<std::int64_t>, numpy<std::uint32_t>, numpy<float>>;
rows_for_python as_arrays(sparse_weights&& rows) {
    return {own(std::move(rows.keys)), own(std::move(rows.indptr)), own(std::move(rows.columns)),
            own(std::move(rows.weights))};
}

// ---- classes

// Keeps the arrays alive that it uses. Only one thread at a time may use it.
struct shared_learner {
    array<std::int64_t, 1> starts;
    std::vector<text_arrays> columns;
    array<std::int32_t, 1> labels;
    changeable<std::uint32_t, 1> features;
    changeable<std::uint64_t, 1> bases;
    std::unique_ptr<tagger_learner> of;
    mutable std::mutex busy;
    std::size_t tags;

    shared_learner(const templates& how, const tag_settings& what, array<std::int64_t, 1> starts,
                   std::vector<text_arrays> columns, array<std::int32_t, 1> labels,
                   changeable<std::uint32_t, 1> features, changeable<std::uint64_t, 1> bases, bool mira, double C,
                   std::size_t folds)
        : starts(std::move(starts)),
          columns(std::move(columns)),
          labels(std::move(labels)),
          features(std::move(features)),
          bases(std::move(bases)),
          tags(what.count()) {
        const sentence_batch batch = batch_of(this->starts, this->columns, how.columns);
        if (this->labels.size() != batch.tokens()) throw std::invalid_argument("there is not a tag for each token");
        for (const std::int32_t tag : view(this->labels))
            if (tag < 0 || static_cast<std::size_t>(tag) >= tags)
                throw std::invalid_argument("a token has no such tag");
        if (batch.size() >= npos || batch.tokens() >= npos) throw std::length_error("too many tokens");
        if (!(C > 0)) throw std::invalid_argument("C is not greater than 0");
        const token_features room{{this->features.data(), this->features.size()},
                                  {this->bases.data(), this->bases.size()}};
        nb::gil_scoped_release unlocked;
        of = at_best_level().make_tagger_learner(how, what, sequence_settings{mira, C, folds},
                                                 tagged_sentences{batch, view(this->labels)}, room);
    }

    // A part of another learner, on the same arrays.
    shared_learner(const shared_learner& whole, std::unique_ptr<tagger_learner> part)
        : starts(whole.starts),
          columns(whole.columns),
          labels(whole.labels),
          features(whole.features),
          bases(whole.bases),
          of(std::move(part)),
          tags(whole.tags) {}

    template <class Use>
    auto use(Use work) const {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(busy);
        return work(*of);
    }
};

nb::dict get_state(const shared_learner& self) {
    sequence_state now = self.use([](const tagger_learner& of) { return of.state(); });
    std::vector<std::uint32_t> origins;
    for (const row_origin& one : now.origins)
        origins.insert(origins.end(), {one.sentence, one.token, one.pattern, one.tag1, one.tag2});
    nb::dict state;
    state["steps"] = own(std::vector<double>{now.steps});
    state["keys"] = own(std::move(now.rows.keys));
    state["indptr"] = own(std::move(now.rows.indptr));
    state["columns"] = own(std::move(now.rows.columns));
    state["weights"] = own(std::move(now.rows.weights));
    state["sums"] = own(std::move(now.sums));
    state["origins"] = own(std::move(origins));
    return state;
}

void set_state(shared_learner& self, const nb::dict& from) {
    sequence_state state;
    const auto steps = member<double>(from, "steps");
    const auto origins = member<std::uint32_t>(from, "origins");
    if (steps.size() != 1 || origins.size() % 5 != 0) throw std::invalid_argument("it is no state of a training");
    state.steps = steps.data()[0];
    state.rows = {copy_of(member<std::uint64_t>(from, "keys")), copy_of(member<std::int64_t>(from, "indptr")),
                  copy_of(member<std::uint32_t>(from, "columns")), copy_of(member<float>(from, "weights"))};
    state.sums = copy_of(member<double>(from, "sums"));
    for (const std::uint32_t* at = origins.data(); at != origins.data() + origins.size(); at += 5)
        state.origins.push_back({at[0], at[1], at[2], at[3], at[4]});
    self.use([&](tagger_learner& of) {
        of.set_state(state);
        return 0;
    });
}

struct shared_tagging {
    std::unique_ptr<tagging> of;
    std::size_t columns, tags;

    shared_tagging(const templates& how, const tag_settings& what, const word_arrays& words,
                   const row_arrays_of_keys& rows)
        : columns(how.columns), tags(what.count()) {
        nb::gil_scoped_release unlocked;
        of = at_best_level().make_tagging(how, what, words_of(words), weights_of(rows));
    }

    sentence_batch one(const array<std::int64_t, 1>& starts, const std::vector<text_arrays>& texts) const {
        const sentence_batch batch = batch_of(starts, texts, columns);
        if (batch.size() != 1) throw std::invalid_argument("it is not one sentence");
        return batch;
    }
};

using atoms_from_python = std::vector<std::tuple<std::string, std::size_t, std::size_t>>;
using patterns_from_python =
    std::vector<std::pair<std::vector<std::pair<std::size_t, std::int64_t>>, std::vector<std::size_t>>>;

atom_kind kind_of(const std::string& name) {
    constexpr std::array<const char*, 7> names{"form", "lower", "shape", "signs", "prefix", "suffix", "known"};
    for (std::size_t i = 0; i < names.size(); ++i)
        if (name == names[i]) return static_cast<atom_kind>(i);
    throw std::invalid_argument("there is no such atom");
}

decoder decoder_of(const std::string& name) {
    if (name == "viterbi") return decoder::viterbi;
    if (name == "greedy") return decoder::greedy;
    if (name == "beam") return decoder::beam;
    throw std::invalid_argument("there is no such search");
}

templates templates_of(std::size_t columns, const atoms_from_python& atoms, const patterns_from_python& patterns) {
    templates how;
    how.columns = columns;
    for (const auto& [kind, size, column] : atoms) how.atoms.push_back({kind_of(kind), size, column});
    for (const auto& [pieces, tags] : patterns) {
        how.patterns.push_back({{}, tags});
        for (const auto& [atom, offset] : pieces) how.patterns.back().pieces.push_back({atom, offset});
    }
    how.check();
    return how;
}

void bind_settings(nb::module_& m) {
    m.def(
        "word_shape",
        [](const nb::bytes& word) {
            word_reader reader;
            reader.read({word.c_str(), word.size()});
            const std::string_view shape = reader.shape_text();
            return nb::bytes(shape.data(), shape.size());
        },
        "word"_a);
    nb::class_<templates>(m, "TagTemplates")
        .def(
            "__init__",
            [](templates* self, std::size_t columns, const atoms_from_python& atoms,
               const patterns_from_python& patterns) { new (self) templates(templates_of(columns, atoms, patterns)); },
            nb::kw_only(), "columns"_a, "atoms"_a, "patterns"_a);
    nb::class_<tag_settings>(m, "TagSettings")
        .def(
            "__init__",
            [](tag_settings* self, const std::vector<nb::bytes>& tags, const array<bool, 2>& allowed,
               const std::string& decode, std::size_t width) {
                tag_settings what;
                for (const nb::bytes& tag : tags) what.tags.emplace_back(tag.c_str(), tag.size());
                if (allowed.shape(0) != allowed.shape(1) || allowed.shape(0) != tags.size() + 1)
                    throw std::invalid_argument("it is not said which tags may follow which");
                what.allowed.assign(allowed.data(), allowed.data() + allowed.size());
                what.decode = decoder_of(decode);
                what.width = width;
                what.check();
                new (self) tag_settings(std::move(what));
            },
            nb::kw_only(), "tags"_a, "allowed"_a.noconvert(), "decode"_a, "width"_a);
}

void bind_learner(nb::module_& m) {
    nb::class_<sequence_tally>(m, "SequenceTally")
        .def_ro("sentences", &sequence_tally::sentences)
        .def_ro("mistakes", &sequence_tally::mistakes)
        .def_ro("updates", &sequence_tally::updates)
        .def_ro("wrong_tokens", &sequence_tally::wrong_tokens)
        .def_ro("loss", &sequence_tally::loss);
    nb::class_<tag_changes>(m, "TagChanges").def_ro("steps", &tag_changes::steps);
    nb::class_<shared_learner>(m, "TaggerLearner")
        .def(nb::init<const templates&, const tag_settings&, array<std::int64_t, 1>, std::vector<text_arrays>,
                      array<std::int32_t, 1>, changeable<std::uint32_t, 1>, changeable<std::uint64_t, 1>, bool, double,
                      std::size_t>(),
             "templates"_a, "settings"_a, "starts"_a.noconvert(), "columns"_a.noconvert(), "labels"_a.noconvert(),
             "features"_a.noconvert(), "bases"_a.noconvert(), nb::kw_only(), "mira"_a, "C"_a, "folds"_a)
        .def_static(
            "features_of_token",
            [](const templates& how) {
                const auto back = static_cast<std::size_t>(
                    std::ranges::count_if(how.patterns, [](const pattern& one) { return !one.tags.empty(); }));
                return std::pair(how.patterns.size() - back, back);
            },
            "templates"_a)
        .def(
            "learn",
            [](shared_learner& self, const array<std::int64_t, 1>& order) {
                return self.use([&](tagger_learner& of) { return of.learn(view(order)); });
            },
            "order"_a.noconvert())
        .def("norm2",
             [](const shared_learner& self) { return self.use([](const tagger_learner& of) { return of.norm2(); }); })
        .def(
            "features",
            [](const shared_learner& self) { return self.use([](const tagger_learner& of) { return of.features(); }); })
        .def(
            "weights",
            [](const shared_learner& self, bool averaged) {
                return as_arrays(self.use([&](const tagger_learner& of) { return of.weights(averaged); }));
            },
            "averaged"_a)
        .def(
            "names",
            [](const shared_learner& self, const array<std::uint64_t, 1>& keys) {
                std::vector<std::uint32_t> patterns;
                name_list names = self.use([&](const tagger_learner& of) { return of.names(view(keys), patterns); });
                return std::tuple(own(std::move(patterns)), own(std::move(names.offsets)), own(std::move(names.bytes)));
            },
            "keys"_a.noconvert())
        .def("words",
             [](const shared_learner& self) {
                 const lexicon& words = self.of->words();  // which never changes
                 return std::tuple(copied(words.words()), copied(std::span(words.sets_of_words())),
                                   copied(std::span(words.names_of_sets().offsets)),
                                   copied(std::span(words.names_of_sets().bytes)));
             })
        .def("get_state", &get_state)
        .def("set_state", &set_state, "state"_a)
        .def("part",
             [](const shared_learner& self) {
                 return new shared_learner(self, self.use([](const tagger_learner& of) { return of.part(); }));
             })
        .def(
            "take_changes",
            [](shared_learner& self, const shared_learner& base, double share) {
                return self.use([&](tagger_learner& of) { return of.take(*base.of, share); });
            },
            "base"_a, "share"_a)
        .def(
            "mix",
            [](shared_learner& self, const tag_changes& all) {
                self.use([&](tagger_learner& of) {
                    of.mix_parts(all);
                    return 0;
                });
            },
            "changes"_a)
        .def(
            "follow",
            [](shared_learner& self, const tag_changes& all) {
                self.use([&](tagger_learner& of) {
                    of.follow(all);
                    return 0;
                });
            },
            "changes"_a);
    m.def(
        "merge_tag_changes",
        [](const tag_changes& a, const tag_changes& b) {
            nb::gil_scoped_release unlocked;
            return merge(a, b);
        },
        "a"_a, "b"_a);
}

// The features of a token after some tags, each with its pattern, its name and its weights.
using features_for_python = std::tuple<numpy<std::uint32_t>, numpy<std::int64_t>, numpy<std::uint8_t>, numpy<float>>;
features_for_python features_of_token(const shared_tagging& self, const array<std::int64_t, 1>& starts,
                                      const std::vector<text_arrays>& columns, const array<std::int32_t, 1>& tags,
                                      std::size_t token) {
    const sentence_batch batch = self.one(starts, columns);
    if (tags.size() != batch.tokens() || token >= batch.tokens()) throw std::out_of_range("there is no such token");
    for (const std::int32_t tag : view(tags))
        if (tag < 0 || static_cast<std::size_t>(tag) >= self.tags)
            throw std::invalid_argument("a token has no such tag");
    std::vector<seen_feature> found = self.of->features(batch, view(tags), token);
    std::vector<std::uint32_t> patterns;
    std::vector<float> weights;
    name_list names;
    for (const seen_feature& one : found) {
        patterns.push_back(static_cast<std::uint32_t>(one.pattern));
        names.write(one.text);
        names.end_name();
        weights.insert(weights.end(), one.weights.begin(), one.weights.end());
    }
    return {own(std::move(patterns)), own(std::move(names.offsets)), own(std::move(names.bytes)),
            own(std::move(weights))};
}

void bind_tagging(nb::module_& m) {
    nb::class_<shared_tagging>(m, "Tagging")
        .def(nb::init<const templates&, const tag_settings&, const word_arrays&, const row_arrays_of_keys&>(),
             "templates"_a, "settings"_a, "words"_a.noconvert(), "rows"_a.noconvert())
        .def(
            "tag",
            [](const shared_tagging& self, const array<std::int64_t, 1>& starts,
               const std::vector<text_arrays>& columns) {
                const sentence_batch batch = batch_of(starts, columns, self.columns);
                auto memory = std::make_unique_for_overwrite<std::int32_t[]>(batch.tokens());
                {
                    nb::gil_scoped_release unlocked;
                    self.of->tag(batch, memory.get());
                }
                return own<std::int32_t>(std::move(memory), {batch.tokens()});
            },
            "starts"_a.noconvert(), "columns"_a.noconvert())
        .def(
            "scores",
            [](const shared_tagging& self, const array<std::int64_t, 1>& starts,
               const std::vector<text_arrays>& columns) {
                const sentence_batch batch = batch_of(starts, columns, self.columns);
                auto memory = std::make_unique_for_overwrite<float[]>(batch.tokens() * self.tags);
                {
                    nb::gil_scoped_release unlocked;
                    self.of->scores(batch, memory.get());
                }
                return own<float>(std::move(memory), {batch.tokens(), self.tags});
            },
            "starts"_a.noconvert(), "columns"_a.noconvert())
        .def(
            "best",
            [](const shared_tagging& self, const array<std::int64_t, 1>& starts,
               const std::vector<text_arrays>& columns, std::size_t count) {
                const sentence_batch batch = self.one(starts, columns);
                std::vector<found_sequence> found;
                {
                    nb::gil_scoped_release unlocked;
                    found = self.of->best(batch, count);
                }
                std::vector<std::pair<double, numpy<std::int32_t>>> all;
                for (found_sequence& one : found) all.emplace_back(one.score, own(std::move(one.tags)));
                return all;
            },
            "starts"_a.noconvert(), "columns"_a.noconvert(), "count"_a)
        .def("features", &features_of_token, "starts"_a.noconvert(), "columns"_a.noconvert(), "tags"_a.noconvert(),
             "token"_a);
}

}  // namespace

void bind_sequences(nb::module_& m) {
    bind_settings(m);
    bind_learner(m);
    bind_tagging(m);
}

}  // namespace markone
