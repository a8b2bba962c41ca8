// N-grams by their exact names: collected, chosen, read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/portable.h"
#include "text/ngrams.h"

namespace markone {

class ngram_vocabulary {
  public:
    explicit ngram_vocabulary(const ngram_settings& how) : how(how) { check(how); }

    const ngram_settings how;

    // N-grams with a number: features, and beginnings of features.
    std::size_t known() const { return grams.size(); }
    std::size_t features() const { return collecting ? grams.size() : kept; }
    // The number of rows in which each n-gram occurs, by number.
    std::span<const std::uint32_t> counts() const { return rows_with; }
    // The number of tokens in each n-gram, by number.
    std::vector<std::uint8_t> lengths() const {
        must_collect();  // while collecting, the beginning of an n-gram has a smaller number
        std::vector<std::uint8_t> all(grams.size());
        for (std::size_t number = 0; number < all.size(); ++number) {
            const std::uint32_t first = grams[number].first;
            all[number] = static_cast<std::uint8_t>(first == npos ? 1 : all[first] + 1);
        }
        return all;
    }

    // Adds the collected texts, and returns their rows.
    growing_rows absorb(const ngram_collector& batch) {
        must_collect();
        std::vector<std::uint32_t> word_of(batch.words.size());
        for (std::uint32_t word = 0; word < word_of.size(); ++word)
            word_of[word] = words.find_or_add(batch.words[word]);
        if (singles.size() < words.size()) singles.resize(words.size());
        growing_rows rows;
        rows.reserve(how.longest * batch.said.size(), batch.lengths.size());
        std::vector<std::uint32_t> said, current;
        std::size_t at = 0;
        for (const std::uint32_t length : batch.lengths) {
            said.resize(length);
            for (std::size_t i = 0; i < length; ++i) said[i] = word_of[batch.said[at + i]];
            at += length;
            add_row(said, current, rows);
        }
        for (std::size_t i = 0; i < rows.indices.size(); ++i) {
            if (i + ahead < rows.indices.size()) prefetch_to_write(&rows_with[rows.indices[i + ahead]]);
            ++rows_with[rows.indices[i]];
        }
        return rows;
    }

    // Adds names as features, in their order. N-grams of words are split at the spaces.
    std::uint32_t add_name(std::string_view name) {
        must_collect();
        std::uint32_t number = npos;
        for (std::size_t at = 0; at <= name.size();) {
            const std::size_t space = how.tokens.longest_run > 0 ? name.npos : name.find(' ', at);
            const std::size_t end = std::min(space, name.size());
            const std::uint32_t word = words.find_or_add(name.substr(at, end - at));
            if (singles.size() < words.size()) singles.resize(words.size());
            pairs.reserve(paired + 1);
            number = add(number, word);
            at = end + 1;
        }
        return number;
    }

    // The numbers of the n-grams in at least `least` rows, the most frequent first; ties keep their order.
    std::vector<std::uint32_t> frequent(std::uint32_t min_count, std::size_t most) const {
        std::vector<std::uint32_t> chosen;
        for (std::uint32_t number = 0; number < grams.size(); ++number)
            if (rows_with[number] >= std::max(min_count, 1u)) chosen.push_back(number);
        std::vector<std::uint32_t> sorted(chosen.size());
        for (const unsigned shift : {0u, 16u}) {  // a radix sort, which keeps the order of equals
            std::vector<std::size_t> starts(0x10001);
            const auto digit = [&](std::uint32_t number) { return 0xffff - (rows_with[number] >> shift & 0xffff); };
            for (const std::uint32_t number : chosen) ++starts[digit(number) + 1];
            for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
            for (const std::uint32_t number : chosen) sorted[starts[digit(number)]++] = number;
            chosen.swap(sorted);
        }
        if (chosen.size() > most) chosen.resize(most);
        return chosen;
    }

    // Feature i is the old number chosen[i]; all others are removed, except the beginnings of chosen n-grams.
    void keep(std::span<const std::uint32_t> chosen) {
        must_collect();
        choose(chosen);
    }

    // Feature i is the old feature chosen[i]; the others are removed.
    void prune(std::span<const std::uint32_t> chosen) {
        must_have_chosen();
        for (const std::uint32_t number : chosen)
            if (number >= kept) throw std::invalid_argument("no such choice");
        choose(chosen);
    }

    // Adds the features of another vocabulary that are new, after its own; returns the numbers of the
    // other's features in this vocabulary.
    std::vector<std::uint32_t> extend(const ngram_vocabulary& other) {
        must_have_chosen();
        other.must_have_chosen();
        if (how.shortest != other.how.shortest || how.longest != other.how.longest)
            throw std::invalid_argument("the other vocabulary has n-grams of other lengths");
        ngram_vocabulary both(*this);
        std::vector<std::uint32_t> word_of(other.words.size()), number_of(other.grams.size(), npos);
        for (std::uint32_t word = 0; word < word_of.size(); ++word)
            word_of[word] = both.words.find_or_add(other.words[word]);
        both.singles.resize(both.words.size());
        both.pairs.reserve(both.paired + other.paired);
        const auto take = [&](const auto& again, std::uint32_t number) -> std::uint32_t {
            if (number != npos && number_of[number] == npos) {
                const auto [first, last] = other.grams[number];
                number_of[number] = both.add(again(again, first), word_of[last]);
            }
            return number == npos ? npos : number_of[number];
        };
        std::vector<std::uint32_t> chosen(kept), numbers(other.kept);
        std::iota(chosen.begin(), chosen.end(), 0u);
        for (std::uint32_t number = 0; number < other.kept; ++number) {
            numbers[number] = take(take, number);
            if (numbers[number] < kept) continue;
            chosen.push_back(numbers[number]);
            numbers[number] = static_cast<std::uint32_t>(chosen.size() - 1);
        }
        both.choose(chosen);
        become(both);
        return numbers;
    }

    // The contents of a vocabulary whose features are chosen: its words, and its n-grams as pairs of
    // numbers.
    name_list all_words() const { return words.names(); }
    std::vector<std::uint32_t> all_parts() const {
        std::vector<std::uint32_t> parts;
        parts.reserve(2 * grams.size());
        for (const auto [first, last] : grams) {
            parts.push_back(first);
            parts.push_back(last);
        }
        return parts;
    }

    // Restores it from these, which are not trusted; the first `features` n-grams are the features.
    void restore(std::span<const std::string_view> all_words, std::span<const std::uint32_t> all_parts,
                 std::size_t features) {
        if (!collecting || words.size() != 0) throw std::logic_error("the vocabulary is not empty");
        const std::size_t count = all_parts.size() / 2;
        if (all_parts.size() % 2 != 0 || count >= npos || all_words.size() >= npos || features > count)
            throw std::invalid_argument("the n-grams are not as many as they must be");
        ngram_vocabulary whole(how);
        whole.add_words(all_words);
        std::vector<gram> parts(count);
        for (std::size_t i = 0; i < count; ++i) {
            parts[i] = {all_parts[2 * i], all_parts[2 * i + 1]};
            if ((parts[i].first >= count && parts[i].first != npos) || parts[i].last >= all_words.size())
                throw std::invalid_argument("an n-gram has a part that is not there");
        }
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t length = 1;
            for (std::uint32_t at = parts[i].first; at != npos && length <= how.longest; at = parts[at].first) ++length;
            if (length > how.longest || (i < features && length < how.shortest))
                throw std::invalid_argument("an n-gram is too short or too long");
        }
        whole.add_all(parts);
        whole.kept = features;
        become(whole);
    }

    // The names of all features.
    name_list names() const {
        name_list all;
        all.offsets.reserve(features() + 1);
        std::vector<std::uint32_t> said;
        for (std::uint32_t number = 0; number < features(); ++number) {
            for (std::uint32_t at = number; at != npos; at = grams[at].first) said.push_back(grams[at].last);
            for (; !said.empty(); said.pop_back()) {
                all.write(words[said.back()]);
                if (said.size() > 1) all.write(" ");
            }
            all.end_name();
        }
        return all;
    }

    std::string name(std::uint32_t number) const {
        if (number >= grams.size()) throw std::out_of_range("no such n-gram");
        const auto [first, last] = grams[number];
        return first == npos ? std::string(words[last]) : name(first) + ' ' + std::string(words[last]);
    }

    // The feature of an n-gram; npos if it is not a feature.
    std::uint32_t find(std::span<const std::string> ngram) const {
        std::uint32_t number = npos;
        for (const std::string& token : ngram) {
            const std::uint32_t word = words.find(token);
            if (word == npos) return npos;
            number = &token == ngram.data() ? singles[word].number : pairs.find(number, word);
            if (number == npos) return npos;
        }
        return number < features() ? number : npos;
    }

    // Adds a row with the features in a text; other n-grams are skipped. Returns the text's length in tokens.
    std::size_t read(std::string_view text, const valuation& values, ngram_reader& by, growing_rows& rows) const {
        by.said.clear();
        by.tokens(text, [&](std::string_view token) { by.said.push_back(words.find(token)); });
        const std::size_t size = by.said.size(), begin = rows.indices.size();
        check_room(rows, how, size);
        by.current.resize(size);
        by.counter.begin_row(features(), rows);
        const auto count_all = [&](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
                if (by.current[i] < features()) by.counter.count(by.current[i], rows);
        };
        for (std::size_t i = 0; i < size; ++i) {
            by.current[i] = by.said[i] == npos ? npos : singles[by.said[i]].number;
            by.counter.expect(by.current[i]);
        }
        if (how.shortest == 1) count_all(size);
        for (std::size_t length = 2; length <= std::min(how.longest, size); ++length) {
            const std::size_t count = size - length + 1;
            const std::uint32_t* const last = by.said.data() + length - 1;
            pairs.each_known({by.current.data(), count}, {last, count}, by.places,
                             [&](std::size_t i, std::uint32_t number) {
                                 by.current[i] = number;
                                 by.counter.expect(number);
                             });
            if (length >= how.shortest) count_all(count);
        }
        end_row(begin, values, rows);
        return size;
    }

  private:
    static constexpr std::size_t slice = 4096;  // room for new pairs is made for this many places of a text at a time
    static constexpr std::size_t ahead = 16;    // places in memory are prefetched this many n-grams ahead

    // The n-gram without its last word, npos if it has one word, and the last word.
    struct gram {
        std::uint32_t first, last;
    };
    // An n-gram of one word. The note belongs to a row_counter.
    struct single {
        std::uint32_t number = npos;
        std::uint32_t note = 0;
    };

    void must_collect() const {
        if (!collecting) throw std::logic_error("the features are chosen already");
    }

    void must_have_chosen() const {
        if (collecting) throw std::logic_error("the features are not chosen yet");
    }

    void choose(std::span<const std::uint32_t> chosen) {
        std::vector<std::uint32_t> renumbered(grams.size(), npos), order;
        const auto take = [&](std::uint32_t number) {
            renumbered[number] = static_cast<std::uint32_t>(order.size());
            order.push_back(number);
        };
        for (const std::uint32_t number : chosen) {
            if (number >= grams.size() || renumbered[number] != npos) throw std::invalid_argument("no such choice");
            take(number);
        }
        for (std::size_t next = 0; next < order.size();) {  // the order grows meanwhile
            const std::uint32_t first = grams[order[next++]].first;
            if (first != npos && renumbered[first] == npos) take(first);
        }
        ngram_vocabulary slim(how);
        std::vector<std::uint32_t> word_of(words.size(), npos);
        std::vector<gram> parts;  // with their new numbers
        parts.reserve(order.size());
        for (const std::uint32_t number : order) {
            const auto [first, last] = grams[number];
            if (word_of[last] == npos) word_of[last] = slim.words.find_or_add(words[last]);
            parts.push_back({first == npos ? npos : renumbered[first], word_of[last]});
        }
        slim.add_all(parts);
        for (std::size_t i = 0; i < order.size(); ++i) slim.rows_with[i] = rows_with[order[i]];
        slim.kept = chosen.size();
        become(slim);
    }

    // Adds a row with all n-grams of these words; new ones get a number.
    void add_row(std::span<const std::uint32_t> said, std::vector<std::uint32_t>& current, growing_rows& rows) {
        check_room(rows, how, said.size());
        const std::size_t begin = rows.indices.size();
        current.resize(said.size());
        const auto meet = [&](std::size_t i, std::size_t length, std::uint32_t first, std::uint32_t last, auto& at) {
            if (at.number == npos) at.number = push({first, last});
            current[i] = at.number;
            if (length >= how.shortest) row_counter::count_at(at.note, at.number, begin, rows);
        };
        if (how.shortest == 1)
            count_singles(said, current, rows);
        else
            for (std::size_t i = 0; i < said.size(); ++i) meet(i, 1, npos, said[i], singles[said[i]]);
        for (std::size_t length = 2; length <= std::min(how.longest, said.size()); ++length) {
            const std::size_t count = said.size() - length + 1;
            for (std::size_t start = 0; start < count; start += slice) {
                const std::size_t size = std::min(slice, count - start);
                const std::span<const std::uint32_t> last = said.subspan(start + length - 1, size);
                pairs.reserve(paired + size);
                // The n-gram at i with one word less is at i until this one replaces it.
                pairs.each({current.data() + start, size}, last, [&](std::size_t i, gram_table::slot& at) {
                    meet(start + i, length, current[start + i], last[i], at);
                });
            }
        }
        rows.end_row();
    }

    // Starts a row with its single words. The processor cannot predict whether a word is repeated in the text, so
    // there is no branch: its count, or a new one after the last, is always written.
    void count_singles(std::span<const std::uint32_t> said, std::span<std::uint32_t> current, growing_rows& rows) {
        const std::size_t begin = rows.indices.size();
        std::size_t end = begin;
        rows.indices.resize(begin + said.size() + 1);
        rows.values.resize(begin + said.size() + 1);
        std::uint32_t* const indices = rows.indices.data();
        float* const values = rows.values.data();
        for (std::size_t i = 0; i < said.size(); ++i) {
            single& at = singles[said[i]];
            if (at.number == npos) at.number = push({npos, said[i]});
            current[i] = at.number;
            const std::size_t noted = std::min<std::size_t>(at.note, end);
            const bool again = (noted >= begin) & (noted < end) & (indices[noted] == at.number);
            const std::size_t place = again ? noted : end;
            indices[place] = at.number;
            values[place] += 1;
            at.note = static_cast<std::uint32_t>(place);
            end += !again;
        }
        rows.indices.resize(end);
        rows.values.resize(end);
    }

    // Adds all words of an empty vocabulary, in the order of their numbers.
    void add_words(std::span<const std::string_view> all) {
        std::size_t size = 0;
        for (const std::string_view word : all) size += word.size();
        words.reserve(all.size(), size);
        std::vector<std::uint64_t> keys(all.size());
        for (std::size_t i = 0; i < all.size() + ahead; ++i) {
            if (i < all.size()) keys[i] = words.expect(all[i]);
            if (i < ahead) continue;
            const std::string_view word = all[i - ahead];
            if (word.empty()) throw std::invalid_argument("a word is empty");
            if (words.find_or_add(word, keys[i - ahead]) != i - ahead)
                throw std::invalid_argument("a word is there twice");
        }
    }

    // Adds all n-grams to a vocabulary that has only words, in the order of their numbers.
    void add_all(std::span<const gram> parts) {
        const auto is_pair = [](const gram& one) { return one.first != npos; };
        singles.resize(words.size());
        pairs.reserve(static_cast<std::size_t>(std::count_if(parts.begin(), parts.end(), is_pair)));
        grams.reserve(parts.size());
        rows_with.reserve(parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i + ahead < parts.size()) pairs.expect(parts[i + ahead].first, parts[i + ahead].last);
            if (add(parts[i].first, parts[i].last) != i) throw std::invalid_argument("an n-gram is there twice");
        }
    }

    // Replaces this vocabulary by one whose features are chosen.
    void become(ngram_vocabulary& other) {
        words = std::move(other.words);
        singles = std::move(other.singles);
        pairs = std::move(other.pairs);
        grams = std::move(other.grams);
        rows_with = std::move(other.rows_with);
        paired = other.paired;
        kept = other.kept;
        collecting = false;
    }

    // The number of an n-gram; a new one gets the next number. There must be room.
    std::uint32_t add(std::uint32_t first, std::uint32_t last) {
        const auto next = static_cast<std::uint32_t>(grams.size());
        if (first == npos && singles[last].number == npos) singles[last].number = next;
        const std::uint32_t number = first == npos ? singles[last].number : pairs.find_or_add(first, last, next);
        return number == next ? push({first, last}) : number;
    }
    std::uint32_t push(const gram& one) {
        const std::uint32_t number = next_number(grams.size(), "too many n-grams");
        rows_with.resize(grams.size() + 1);
        grams.push_back(one);
        paired += one.first != npos;
        return number;
    }

    word_table words;
    std::vector<single> singles;  // by word
    gram_table pairs;
    std::vector<gram> grams;               // by number
    std::vector<std::uint32_t> rows_with;  // by number
    std::size_t paired = 0;                // those of two words or more
    bool collecting = true;
    std::size_t kept = 0;
};

}  // namespace markone
