// The features of sentences for taggers: see sequence.h.
#include <array>
#include <bit>
#include <stdexcept>

#include "tagging/sequence.h"

namespace markone {

void templates::check() const {
    if (columns == 0 || patterns.empty() || patterns.size() > most || atoms.size() > most)
        throw std::invalid_argument("there are no templates, or too many");
    for (const atom_source& one : atoms) {
        const bool affix = one.kind == atom_kind::prefix || one.kind == atom_kind::suffix;
        if (one.kind > atom_kind::known || one.column >= columns ||
            (affix && (one.size == 0 || one.size > word_atoms::longest_affix)))
            throw std::invalid_argument("a template uses an atom that does not exist");
    }
    for (const pattern& one : patterns) {
        for (const piece& part : one.pieces)
            if (part.atom >= atoms.size() || part.offset < -farthest || part.offset > farthest)
                throw std::invalid_argument(
                    "a template uses a token that is too far away, or an atom that does not exist");
        for (const std::size_t back : one.tags)
            if (back == 0 || back > longest_memory) throw std::invalid_argument("a template looks back too far");
    }
}

std::size_t templates::reach() const {
    std::int64_t found = 0;
    for (const pattern& one : patterns)
        for (const piece& part : one.pieces) found = std::max({found, part.offset, -part.offset});
    return static_cast<std::size_t>(found);
}

std::size_t templates::memory() const {
    std::size_t found = 1;
    for (const pattern& one : patterns)
        for (const std::size_t back : one.tags) found = std::max(found, back);
    return found;
}

void tag_settings::check() const {
    if (tags.empty() || tags.size() > most) throw std::invalid_argument("there are no tags, or too many");
    if (allowed.size() != (count() + 1) * (count() + 1))
        throw std::invalid_argument("the table of allowed transitions has the wrong size");
    if (width == 0 || width > most) throw std::invalid_argument("the beam is too narrow or too wide");
}

void sentence_batch::check(std::size_t columns_wanted) const {
    if (columns.size() != columns_wanted) throw std::invalid_argument("the columns are not those of the templates");
    if (starts.empty() || starts[0] != 0) throw std::invalid_argument("the sentences do not start at the first token");
    for (std::size_t i = 1; i < starts.size(); ++i)
        if (starts[i] < starts[i - 1]) throw std::invalid_argument("a sentence ends before it starts");
    for (const strings& one : columns) {
        if (one.offsets.size() != tokens() + 1) throw std::invalid_argument("a column has too few or too many tokens");
        if (one.offsets[0] < 0 || static_cast<std::size_t>(one.offsets.back()) > one.bytes.size())
            throw std::invalid_argument("a token lies outside of its text");
        for (std::size_t i = 1; i < one.offsets.size(); ++i)
            if (one.offsets[i] < one.offsets[i - 1]) throw std::invalid_argument("a token ends before it starts");
    }
}

// ---- known tags of words

lexicon::lexicon(std::span<const std::uint64_t> words, std::span<const std::uint32_t> set_of_word, name_list set_names)
    : lexicon() {
    if (words.size() != set_of_word.size())
        throw std::invalid_argument("the numbers of words and of their sets differ");
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (set_of_word[i] >= set_names.size())
            throw std::invalid_argument("a word has a set of tags that does not exist");
        add(words[i], set_names[set_of_word[i]]);
    }
}

std::string lexicon::name_of(std::span<const std::int32_t> counts, const std::vector<std::string>& tags) {
    std::int64_t all = 0;
    for (const std::int32_t times : counts) all += times;
    std::string name;
    for (std::size_t tag = 0; tag < tags.size(); ++tag)
        if (counts[tag] > 0 && counts[tag] * rarest >= all) {
            if (!name.empty()) name += '|';
            name += tags[tag];
        }
    return name;
}

void lexicon::add(std::uint64_t word, std::string_view name) {
    const std::uint32_t number = numbers.find_or_add(word);
    if (number != set_of_words.size()) throw std::invalid_argument("a word occurs twice");
    const std::uint32_t set = set_numbers.find_or_add(atom_of(name));
    if (set == sets.size()) {
        sets.push_back(atom_of(name));
        names.write(name);
        names.end_name();
    }
    set_of_words.push_back(set);
}

// ---- from words to atoms

sentence_reader::sentence_reader(const templates& how, const lexicon& words, std::span<const std::size_t> patterns)
    : how(how), words(words), used(how.columns), memory(how.columns), margin(how.reach()) {
    for (std::size_t p = 0; p < how.patterns.size(); ++p) first_keys.push_back(first_key(p));
    std::vector<bool> wanted(how.atoms.size());
    for (const std::size_t p : patterns)
        for (const piece& one : how.patterns[p].pieces) wanted[one.atom] = true;
    place_of.assign(how.atoms.size(), npos);
    for (std::size_t atom = 0; atom < wanted.size(); ++atom)
        if (wanted[atom]) {
            place_of[atom] = static_cast<std::uint32_t>(needed.size());
            needed.push_back(atom);
        }
    ends.push_back(0);
    for (const pattern& one : how.patterns) {
        for (const piece& part : one.pieces)
            places.push_back(part.offset * static_cast<std::ptrdiff_t>(needed.size()) + place_of[part.atom]);
        ends.push_back(places.size());
    }
    for (const atom_source& one : how.atoms) used[one.column] = true;
}

std::uint32_t sentence_reader::remember(std::size_t column, std::string_view word) {
    column_memory& seen = memory[column];
    const std::uint32_t number = seen.words.find_or_add(word);
    if (number == seen.atoms.size()) {
        seen.atoms.push_back(reader.read(word));
        seen.known.push_back(words.set_of(seen.atoms.back().lower));
    }
    return number;
}

std::uint64_t sentence_reader::atom(const atom_source& source, std::uint32_t value) const {
    const column_memory& seen = memory[source.column];
    const word_atoms& word = seen.atoms[value];
    switch (source.kind) {
        case atom_kind::form: return word.form;
        case atom_kind::lower: return word.lower;
        case atom_kind::shape: return word.shape;
        case atom_kind::signs: return word.signs;
        case atom_kind::prefix: return word.prefix[source.size - 1];
        case atom_kind::suffix: return word.suffix[source.size - 1];
        case atom_kind::known: return words.atom_of_set(seen.known[value]);
    }
    return 0;
}

void sentence_reader::read(const sentence_batch& batch, std::size_t sentence) {
    for (column_memory& seen : memory)
        if (seen.atoms.size() > most_remembered) {
            memory = std::vector<column_memory>(how.columns);
            ++times_forgotten;
            break;
        }
    const std::size_t begin = batch.begin(sentence);
    size = batch.length(sentence);
    values.resize(how.columns * size);
    for (std::size_t column = 0; column < how.columns; ++column)
        for (std::size_t i = 0; used[column] && i < size; ++i)
            values[column * size + i] = remember(column, batch.columns[column][begin + i]);
    const std::size_t each = needed.size();
    here.resize((size + 2 * margin) * each);
    for (std::size_t place = 0; place < each; ++place) {
        for (std::size_t i = 0; i < margin; ++i) {
            here[(margin - 1 - i) * each + place] = outside(-static_cast<std::int64_t>(i) - 1);
            here[(margin + size + i) * each + place] = outside(static_cast<std::int64_t>(i) + 1);
        }
        const atom_source& source = how.atoms[needed[place]];
        const std::uint32_t* const value = values.data() + source.column * size;
        for (std::size_t i = 0; i < size; ++i) here[(margin + i) * each + place] = atom(source, value[i]);
    }
}

// ---- the values of atoms as text

namespace {

std::string text_of_signs(unsigned bits) {
    constexpr std::array<const char*, 4> names{"digit", "hyphen", "capital", "capitals"};
    std::string text;
    for (std::size_t bit = 0; bit < names.size(); ++bit)
        if (bits >> bit & 1) {
            if (!text.empty()) text += '+';
            text += names[bit];
        }
    return text.empty() ? "none" : text;
}

std::string text_of_atom(word_reader& reader, const atom_source& source, std::string_view word) {
    if (source.kind == atom_kind::form) return std::string(word);
    const unsigned signs = reader.scan(word);
    switch (source.kind) {
        case atom_kind::lower: return std::string(reader.lower_text());
        case atom_kind::shape: return std::string(reader.shape_text());
        case atom_kind::signs: return text_of_signs(signs);
        case atom_kind::prefix: return std::string(reader.prefix_text(source.size));
        case atom_kind::suffix: return std::string(reader.suffix_text(source.size));
        default: return std::string(word);
    }
}

}  // namespace

std::string text_of(word_reader& reader, const templates& how, const tag_settings& what, const tell_known& known,
                    const sentence_batch& batch, std::size_t sentence, std::size_t token, std::size_t pattern,
                    std::span<const std::uint32_t> before) {
    std::string text;
    const auto add = [&](std::string_view value) {
        if (!text.empty()) text += between;
        text += value;
    };
    const auto length = static_cast<std::int64_t>(batch.length(sentence));
    for (const piece& one : how.patterns[pattern].pieces) {
        const std::int64_t at = static_cast<std::int64_t>(token) + one.offset;
        const atom_source& source = how.atoms[one.atom];
        if (at < 0 || at >= length) {
            add('(' + std::to_string(at < 0 ? -at : at - length + 1) + (at < 0 ? " before)" : " after)"));
            continue;
        }
        const std::size_t place = batch.begin(sentence) + static_cast<std::size_t>(at);
        if (source.kind == atom_kind::known) {
            const std::string_view tags = known(place);
            add(tags.empty() ? "nothing" : tags);
        } else {
            add(text_of_atom(reader, source, batch.columns[source.column][place]));
        }
    }
    for (const std::size_t back : how.patterns[pattern].tags)
        add(before[back - 1] < what.count() ? std::string_view(what.tags[before[back - 1]]) : "(start)");
    return text;
}

}  // namespace markone
