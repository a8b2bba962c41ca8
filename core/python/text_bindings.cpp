// Python bindings of the work on text.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "levels/levels.h"
#include "online/weights.h"
#include "python/numpy.h"
#include "text/hashed_vocabulary.h"
#include "text/ngram_vocabulary.h"
#include "text/ngrams.h"
#include "text/text_scorer.h"

using namespace nanobind::literals;

namespace markone {

void bind_text(nb::module_& m);

namespace {

// Workers that can be used again, because allocating their memory is expensive.
template <class Worker>
class idle_workers {
  public:
    // One that can be used now; a new one is made with the given settings.
    template <class Settings>
    std::unique_ptr<Worker> take(const Settings& how) {
        {
            const std::lock_guard guard(busy);
            if (!idle.empty()) {
                std::unique_ptr<Worker> one = std::move(idle.back());
                idle.pop_back();
                return one;
            }
        }
        return std::make_unique<Worker>(how);
    }
    void give(std::unique_ptr<Worker> one) {
        const std::lock_guard guard(busy);
        idle.push_back(std::move(one));
    }
    void clear() {
        const std::lock_guard guard(busy);
        idle.clear();
    }

  private:
    std::mutex busy;
    std::vector<std::unique_ptr<Worker>> idle;
};

// The result of a collector, until a vocabulary absorbs it.
template <class Vocabulary>
struct collected_batch {
    const void* vocabulary;  // the one that will absorb it
    std::unique_ptr<typename Vocabulary::collector> collected;
};

// What a vocabulary needs for collecting, if it can collect.
template <class Vocabulary>
struct collecting {};
template <class Vocabulary>
    requires requires { typename Vocabulary::collector; }
struct collecting<Vocabulary> {
    mutable idle_workers<typename Vocabulary::collector> collectors;
};

// A vocabulary that several Python threads may use: any number of them may read it, or one may change it.
template <class Vocabulary>
struct shared_vocabulary : Vocabulary, collecting<Vocabulary> {
    mutable std::shared_mutex busy;
    mutable idle_workers<ngram_reader> readers;
    using Vocabulary::Vocabulary;
};
template <class Vocabulary, class Do>
auto changing(shared_vocabulary<Vocabulary>& self, Do act) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard guard(self.busy);
    return act();
}
template <class Vocabulary, class Do>
auto reading(const shared_vocabulary<Vocabulary>& self, Do act) {
    nb::gil_scoped_release unlocked;
    const std::shared_lock guard(self.busy);
    return act();
}

// The same for texts in which n-grams are searched. Some vocabularies make a table for that when it is first needed.
template <class Vocabulary, class Do>
auto searching(const shared_vocabulary<Vocabulary>& self, Do act) {
    nb::gil_scoped_release unlocked;
    if constexpr (requires { self.prepare(); })
        while (true) {
            {
                const std::shared_lock guard(self.busy);
                if (self.is_prepared()) return act();
            }
            const std::lock_guard guard(self.busy);
            self.prepare();
        }
    else {
        const std::shared_lock guard(self.busy);
        return act();
    }
}

// Offsets of 32 or 64 bits.
using text_offsets = std::variant<array<std::int32_t, 1>, array<std::int64_t, 1>>;

// Texts in one array: text i is bytes[offsets[i] : offsets[i + 1]], as in Arrow's arrays.
class text_list {
  public:
    text_list(const text_offsets& offsets, const array<std::uint8_t, 1>& bytes)
        : all(reinterpret_cast<const char*>(bytes.data())) {
        std::visit([&](const auto& some) { check(view(some), bytes.size()); }, offsets);
    }

    std::size_t size() const { return count; }
    std::size_t total_bytes() const { return start(count) - start(0); }
    std::string_view operator[](std::size_t i) const {
        const std::size_t first = start(i);
        return {all + first, start(i + 1) - first};
    }

  private:
    void check(const auto& starts, std::size_t bytes) {
        if (starts.empty() || starts.front() < 0) throw std::invalid_argument("the texts start before their bytes");
        if (!std::is_sorted(starts.begin(), starts.end()))
            throw std::invalid_argument("the starts of the texts are not in order");
        if (static_cast<std::size_t>(starts.back()) > bytes)
            throw std::invalid_argument("the texts end after their bytes");
        count = starts.size() - 1;
        if constexpr (sizeof starts[0] == 4)
            narrow = starts.data();
        else
            wide = starts.data();
    }
    std::size_t start(std::size_t i) const {
        return narrow != nullptr ? static_cast<std::size_t>(narrow[i]) : static_cast<std::size_t>(wide[i]);
    }

    const char* all;
    std::size_t count = 0;
    const std::int32_t* narrow = nullptr;
    const std::int64_t* wide = nullptr;
};

// The rows' arrays, and the length of each text in tokens.
using read_arrays =
    std::tuple<numpy<std::int64_t>, numpy<std::uint32_t>, std::optional<numpy<float>>, numpy<std::uint32_t>>;
read_arrays as_read(growing_rows&& rows, std::vector<std::uint32_t>&& lengths, bool presence = false) {
    std::optional<numpy<float>> values;
    if (!presence) values = own(std::move(rows.values));
    return {own(std::move(rows.indptr)), own(std::move(rows.indices)), std::move(values), own(std::move(lengths))};
}

template <class Vocabulary>
collected_batch<Vocabulary> collect(const Vocabulary& self, const text_offsets& offsets,
                                    const array<std::uint8_t, 1>& bytes) {
    nb::gil_scoped_release unlocked;
    const text_list texts(offsets, bytes);
    std::unique_ptr<typename Vocabulary::collector> collected = self.collectors.take(self.how);
    for (std::size_t i = 0; i < texts.size(); ++i) collected->add_row(texts[i]);
    return {&self, std::move(collected)};
}

template <class Vocabulary>
read_arrays absorb(Vocabulary& self, collected_batch<Vocabulary>& batch, bool presence) {
    growing_rows rows;
    std::vector<std::uint32_t> lengths;
    changing(self, [&] {
        if (batch.vocabulary != &self) throw std::invalid_argument("the batch is another vocabulary's");
        if (batch.collected == nullptr) throw std::invalid_argument("the batch was absorbed already");
        rows = self.absorb(*batch.collected, presence);
        lengths = batch.collected->lengths;
        batch.collected->clear();
        self.collectors.give(std::move(batch.collected));
    });
    return as_read(std::move(rows), std::move(lengths), presence);
}

template <class Vocabulary>
read_arrays read(const Vocabulary& self, const text_offsets& offsets, const array<std::uint8_t, 1>& bytes,
                 counted_as value, const std::optional<array<float, 1>>& weights) {
    growing_rows rows;
    std::vector<std::uint32_t> lengths;
    searching(self, [&] {
        valuation values{value, {}};
        if (weights) values.weights = view(*weights);
        if (weights && values.weights.size() < self.features()) throw std::invalid_argument("a feature has no weight");
        constexpr std::size_t bytes_of_a_word = 5;
        const text_list texts(offsets, bytes);
        rows.reserve(self.how.longest * texts.total_bytes() / bytes_of_a_word, texts.size());
        std::unique_ptr<ngram_reader> by = self.readers.take(self.how);
        for (std::size_t i = 0; i < texts.size(); ++i)
            lengths.push_back(static_cast<std::uint32_t>(self.read(texts[i], values, *by, rows)));
        self.readers.give(std::move(by));
    });
    return as_read(std::move(rows), std::move(lengths));
}

// The byte ranges of the words of a text; the features; and the range of words of each feature. Ends are exclusive.
using occurrence_arrays = std::tuple<numpy<std::uint64_t>, numpy<std::uint64_t>, numpy<std::uint32_t>,
                                     numpy<std::uint32_t>, numpy<std::uint32_t>>;
template <class Vocabulary>
occurrence_arrays occurrences_in(const Vocabulary& self, const nb::bytes& text) {
    occurrences found =
        searching(self, [&] { return find_occurrences(self, std::string_view(text.c_str(), text.size())); });
    std::vector<std::uint64_t> begins, ends;
    for (const auto [begin, end] : found.words) {
        begins.push_back(begin);
        ends.push_back(end);
    }
    return {own(std::move(begins)), own(std::move(ends)), own(std::move(found.features)), own(std::move(found.first)),
            own(std::move(found.last))};
}

// Names for Python: the start of each, and their bytes.
using name_arrays = std::tuple<numpy<std::int64_t>, numpy<std::uint8_t>>;
name_arrays as_names(name_list&& names) {
    return {own(std::move(names.offsets)), own(std::move(names.bytes))};
}

std::vector<std::string_view> views_of(const text_list& texts) {
    std::vector<std::string_view> views(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) views[i] = texts[i];
    return views;
}

// Adds the names of another vocabulary with hashes.
template <class Vocabulary>
numpy<std::uint32_t> add_names(Vocabulary& self, const array<std::int64_t, 1>& offsets,
                               const array<std::uint8_t, 1>& bytes, const array<std::uint8_t, 1>& sharing) {
    return own(changing(self, [&] { return self.add(views_of({offsets, bytes}), view(sharing)); }));
}

template <class Vocabulary>
void bind_collecting(nb::module_& m, const char* batch, nb::class_<Vocabulary>& vocabulary_class) {
    nb::class_<collected_batch<Vocabulary>>(m, batch);
    vocabulary_class.def("collect", &collect<Vocabulary>, "offsets"_a.noconvert(), "data"_a.noconvert())
        .def("absorb", &absorb<Vocabulary>, "batch"_a, nb::kw_only(), "presence"_a = false)
        .def("counts", [](const Vocabulary& self) { return own(reading(self, [&] { return self.counts(); })); });
}

template <class Vocabulary>
void bind_reading(nb::class_<Vocabulary>& vocabulary_class) {
    vocabulary_class
        .def("read", &read<Vocabulary>, "offsets"_a.noconvert(), "data"_a.noconvert(), nb::kw_only(),
             "value"_a = counted_as::count, "weights"_a.noconvert().none() = nb::none())
        .def_prop_ro("features", [](const Vocabulary& self) { return reading(self, [&] { return self.features(); }); })
        .def("occurrences", &occurrences_in<Vocabulary>, "text"_a)
        .def("names",
             [](const Vocabulary& self) { return as_names(reading(self, [&] { return name_list(self.names()); })); })
        .def(
            "name",
            [](const Vocabulary& self, std::uint32_t number) {
                const std::string name = reading(self, [&] { return self.name(number); });
                return nb::str(name.data(), name.size());
            },
            "number"_a);
}

ngram_settings settings_of(const token_settings& tokens, bool negation, token_choice choice, std::size_t shortest,
                           std::size_t longest, bool characters, bool within_words) {
    if (!characters) return {{tokens, negation, choice, 0, 0, within_words}, shortest, longest};
    return {{tokens, negation, choice, shortest, longest, within_words}, 1, 1};
}

// What the tokenizer knows of characters, for programs that make the same tokens elsewhere: the first and last
// characters of ranges, one pair after the other; and the foldings, each a character and the three that stand for it, 0
// for none.
nb::dict unicode_tables() {
    nb::dict tables;
    const auto put = [&](const char* name, const auto& ranges) {
        std::vector<std::uint32_t> flat;
        for (const auto& [first, last] : ranges) flat.insert(flat.end(), {first, last});
        tables[name] = own(std::move(flat));
    };
    put("words", unicode::words);
    put("signs", unicode::signs);
    put("capitals", unicode::capitals);
    put("unspaced", unicode::unspaced);
    put("marks", unicode::marks);
    put("stackers", unicode::stackers);
    put("modifiers", unicode::modifiers);
    put("flags", unicode::flags);
    put("emoji_to_come", unicode::emoji_to_come);
    std::vector<std::uint32_t> foldings;
    for (const auto& [from, to] : unicode::foldings) foldings.insert(foldings.end(), {from, to[0], to[1], to[2]});
    tables["foldings"] = own(std::move(foldings));
    return tables;
}

void bind_tokens(nb::module_& m) {
    nb::enum_<token_choice>(m, "TokenChoice")
        .value("all", token_choice::all)
        .value("lower", token_choice::lower)
        .value("negated", token_choice::negated);
    nb::class_<ngram_settings>(m, "NgramSettings")
        .def(
            "__init__",
            [](ngram_settings* self, bool fold, bool signs, bool negation, token_choice choice, std::size_t shortest,
               std::size_t longest, bool characters, bool within_words, bool unspaced, bool emoji) {
                const token_settings tokens{fold, signs, unspaced, emoji};
                new (self)
                    ngram_settings(settings_of(tokens, negation, choice, shortest, longest, characters, within_words));
            },
            nb::kw_only(), "fold"_a, "signs"_a, "negation"_a, "choice"_a, "shortest"_a, "longest"_a, "characters"_a,
            "within_words"_a = false, "unspaced"_a = false, "emoji"_a = false);
    m.def(
        "tokens",
        [](const ngram_settings& how, const std::string& text) {
            std::vector<std::string> found;
            token_stream{how.tokens}(text, [&](std::string_view token) { found.emplace_back(token); });
            return found;
        },
        "settings"_a, "text"_a);
    m.def("unicode_tables", &unicode_tables);
}

void bind_exact(nb::module_& m) {
    using exact = shared_vocabulary<ngram_vocabulary>;
    auto exact_class =
        nb::class_<exact>(m, "NgramVocabulary")
            .def(nb::init<const ngram_settings&>(), "settings"_a)
            .def_prop_ro("known", [](const exact& self) { return reading(self, [&] { return self.known(); }); })
            .def("lengths", [](const exact& self) { return own(reading(self, [&] { return self.lengths(); })); })
            .def(
                "frequent",
                [](const exact& self, std::uint32_t min_count, std::size_t most) {
                    return own(reading(self, [&] { return self.frequent(min_count, most); }));
                },
                "min_count"_a, "most"_a)
            .def(
                "keep",
                [](exact& self, const array<std::uint32_t, 1>& chosen) {
                    changing(self, [&] { self.keep(view(chosen)); });
                    self.collectors.clear();
                    self.readers.clear();
                },
                "chosen"_a.noconvert())
            .def(
                "add_name",
                [](exact& self, const std::string& name) {
                    return changing(self, [&] { return self.add_name(name); });
                },
                "name"_a)
            .def(
                "extend",
                [](exact& self, const exact& other) {
                    if (&self == &other) throw std::invalid_argument("a vocabulary cannot be extended by itself");
                    std::vector<std::uint32_t> numbers;
                    {
                        nb::gil_scoped_release unlocked;
                        const std::scoped_lock guard(self.busy, other.busy);
                        numbers = self.extend(other);
                    }
                    return own(std::move(numbers));
                },
                "other"_a)
            .def(
                "prune",
                [](exact& self, const array<std::uint32_t, 1>& chosen) {
                    changing(self, [&] { self.prune(view(chosen)); });
                    self.readers.clear();
                },
                "chosen"_a.noconvert())
            .def(
                "absorb_collected",
                [](exact& self, const array<std::int64_t, 1>& offsets, const array<std::uint8_t, 1>& bytes,
                   const array<std::uint32_t, 1>& parts, const array<std::uint32_t, 1>& counts) {
                    return own(changing(self, [&] {
                        return self.absorb_collected(views_of({offsets, bytes}), view(parts), view(counts));
                    }));
                },
                "offsets"_a.noconvert(), "data"_a.noconvert(), "parts"_a.noconvert(), "counts"_a.noconvert())
            .def(
                "find_collected",
                [](const exact& self, const array<std::int64_t, 1>& offsets, const array<std::uint8_t, 1>& bytes,
                   const array<std::uint32_t, 1>& parts) {
                    return own(
                        searching(self, [&] { return self.find_collected(views_of({offsets, bytes}), view(parts)); }));
                },
                "offsets"_a.noconvert(), "data"_a.noconvert(), "parts"_a.noconvert())
            .def("words", [](const exact& self) { return as_names(reading(self, [&] { return self.all_words(); })); })
            .def("parts", [](const exact& self) { return own(reading(self, [&] { return self.all_parts(); })); })
            .def(
                "restore",
                [](exact& self, const array<std::int64_t, 1>& offsets, const array<std::uint8_t, 1>& bytes,
                   const array<std::uint32_t, 1>& parts, std::size_t features) {
                    changing(self, [&] { self.restore(views_of({offsets, bytes}), view(parts), features); });
                },
                "offsets"_a.noconvert(), "data"_a.noconvert(), "parts"_a.noconvert(), "features"_a);
    bind_collecting(m, "NgramBatch", exact_class);
    bind_reading(exact_class);
}

void bind_hashed(nb::module_& m) {
    using hashed = shared_vocabulary<hashed_vocabulary>;
    auto hashed_class =
        nb::class_<hashed>(m, "HashedVocabulary")
            .def(nb::init<const ngram_settings&, unsigned>(), "settings"_a, "bits"_a)
            .def("lengths", [](const hashed& self) { return own(reading(self, [&] { return self.lengths(); })); })
            .def_prop_ro("used", [](const hashed& self) { return reading(self, [&] { return self.used(); }); })
            .def_prop_ro("shared", [](const hashed& self) { return reading(self, [&] { return self.shared(); }); })
            .def_prop_ro("met", [](const hashed& self) { return reading(self, [&] { return self.met(); }); })
            .def_prop_ro("strangers",
                         [](const hashed& self) { return reading(self, [&] { return self.strangers(); }); })
            .def("owners",
                 [](const hashed& self) { return as_names(reading(self, [&] { return name_list(self.owners()); })); })
            .def("places", [](const hashed& self) { return own(reading(self, [&] { return self.owned(); })); })
            .def("sharing", [](const hashed& self) { return own(reading(self, [&] { return self.sharing(); })); })
            .def("add", &add_names<hashed>, "offsets"_a.noconvert(), "data"_a.noconvert(), "sharing"_a.noconvert())
            .def(
                "add_counts",
                [](hashed& self, const array<std::uint32_t, 1>& counts) {
                    changing(self, [&] { self.add_counts(view(counts)); });
                },
                "counts"_a.noconvert());
    bind_collecting(m, "HashedBatch", hashed_class);
    bind_reading(hashed_class);
}

void bind_compact(nb::module_& m) {
    using compact = shared_vocabulary<compact_vocabulary>;
    auto compact_class =
        nb::class_<compact>(m, "CompactVocabulary")
            .def(nb::init<const ngram_settings&, unsigned>(), "settings"_a, "bits"_a)
            .def("sharing", [](const compact& self) { return own(reading(self, [&] { return self.sharing(); })); })
            .def("add", &add_names<compact>, "offsets"_a.noconvert(), "data"_a.noconvert(), "sharing"_a.noconvert());
    bind_reading(compact_class);
    m.attr("UNICODE_VERSION") = unicode::version;
}

// ---- texts to scores

// A scorer that several Python threads may use, once all its parts are added.
struct shared_scorer : text_scorer {
    mutable idle_workers<scoring_buffers> buffers;
    using text_scorer::text_scorer;
};

// The texts of a column: their offsets and their bytes.
using text_array = std::tuple<text_offsets, array<std::uint8_t, 1>>;

// The scores of all texts, rows x columns of the weights.
std::unique_ptr<float[]> score(const shared_scorer& self, text_columns texts) {
    if (self.features != self.by.features) throw std::invalid_argument("there are weights without features");
    for (const scored_part& part : self.parts)
        if (part.column >= texts.size()) throw std::invalid_argument("a column is missing");
    auto scores = std::make_unique_for_overwrite<float[]>(texts.front().size() * self.by.columns());
    std::unique_ptr<scoring_buffers> with = self.buffers.take(self);
    at_best_level().score_texts(self, *with, texts, scores.get());
    self.buffers.give(std::move(with));
    return scores;
}

numpy<float> score_columns(const shared_scorer& self, const std::vector<text_array>& columns) {
    std::vector<std::vector<std::string_view>> texts(columns.size());
    std::unique_ptr<float[]> scores;
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto& [offsets, bytes] = columns[i];
            texts[i] = views_of({offsets, bytes});
            if (texts[i].size() != texts.front().size()) throw std::invalid_argument("the columns differ in length");
        }
        if (texts.empty()) throw std::invalid_argument("there are no columns");
        scores = score(self, texts);
    }
    return own<float>(std::move(scores), {texts.front().size(), self.by.columns()});
}

// The scores of some texts, which are strings of Python; none if one of them is not a text in UTF-8.
nb::object score_strings(const shared_scorer& self, const nb::list& strings) {
    // As long as a few texts are scored, other threads wait: to let them go on first would take longer.
    constexpr std::size_t few = 1 << 15;
    std::vector<nb::object> encoded;
    std::vector<std::string_view> texts;
    encoded.reserve(strings.size());
    texts.reserve(strings.size());
    std::size_t size = 0;
    for (const nb::handle one : strings) {
        PyObject* const bytes = PyUnicode_Check(one.ptr()) ? PyUnicode_AsUTF8String(one.ptr()) : nullptr;
        if (bytes == nullptr) {
            PyErr_Clear();
            return nb::none();
        }
        encoded.push_back(nb::steal(bytes));
        texts.emplace_back(PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes)));
        size += texts.back().size();
    }
    std::unique_ptr<float[]> scores;
    if (size <= few) {
        scores = score(self, {&texts, 1});
    } else {
        nb::gil_scoped_release unlocked;
        scores = score(self, {&texts, 1});
    }
    return nb::cast(own<float>(std::move(scores), {texts.size(), self.by.columns()}));
}

void bind_scorer(nb::module_& m) {
    auto scorer_class =
        nb::class_<shared_scorer>(m, "TextScorer")
            .def(nb::init<const weights<float>&, bool>(), "weights"_a, nb::kw_only(), "unit"_a, nb::keep_alive<1, 2>())
            .def("scores", &score_columns, "columns"_a)
            .def("scores_of_texts", &score_strings, "texts"_a)
            .def_prop_ro("nbytes", [](const shared_scorer& self) { return self.bytes(); });
    const auto bind_add = [&]<class Vocabulary>(const shared_vocabulary<Vocabulary>*) {
        scorer_class.def(
            "add",
            [](shared_scorer& self, const shared_vocabulary<Vocabulary>& vocabulary, counted_as value,
               const std::optional<array<float, 1>>& weights, std::size_t column) {
                const auto factors = weights ? view(*weights) : std::span<const float>();
                try {
                    reading(vocabulary,
                            [&] { self.add(static_cast<const Vocabulary&>(vocabulary), value, factors, column); });
                } catch (const not_covered&) {
                    return false;
                }
                return true;
            },
            "vocabulary"_a, nb::kw_only(), "value"_a, "weights"_a.noconvert().none(), "column"_a);
    };
    bind_add(static_cast<const shared_vocabulary<ngram_vocabulary>*>(nullptr));
    bind_add(static_cast<const shared_vocabulary<hashed_vocabulary>*>(nullptr));
    bind_add(static_cast<const shared_vocabulary<compact_vocabulary>*>(nullptr));
}

}  // namespace

void bind_text(nb::module_& m) {
    bind_tokens(m);
    bind_exact(m);
    bind_hashed(m);
    bind_compact(m);
    bind_scorer(m);
}

}  // namespace markone
