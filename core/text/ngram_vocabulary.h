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
#include "text/collected_grams.h"
#include "text/ngrams.h"

namespace markone {

class ngram_vocabulary {
  public:
    // Tests use a smaller limit of the values that can be numbered.
    explicit ngram_vocabulary(const ngram_settings& how, std::size_t limit = npos) : how(how), limit(limit) {
        check(how);
    }

    using collector = ngram_collector;
    const ngram_settings how;

    // N-grams with a number: features, and beginnings of features.
    std::size_t known() const { return collecting ? found.size() : grams.size(); }
    std::size_t features() const { return collecting ? found.size() : kept; }
    // The number of rows in which each n-gram occurs, by number.
    std::vector<std::uint32_t> counts() const {
        must_collect();
        std::vector<std::uint32_t> all;
        all.reserve(found.size());
        for (const auto& one : found) all.push_back(one.rows);
        return all;
    }
    // The number of tokens in each n-gram, by number.
    std::vector<std::uint8_t> lengths() const {
        must_collect();  // while collecting, the beginning of an n-gram has a smaller number
        std::vector<std::uint8_t> all(found.size());
        for (std::size_t number = 0; number < all.size(); ++number) {
            const std::uint32_t first = found[number].first;
            all[number] = static_cast<std::uint8_t>(first == npos ? 1 : all[first] + 1);
        }
        return all;
    }

    // Adds the collected texts, and returns their rows. If only the presence of n-grams is wanted, the rows have no
    // values.
    growing_rows absorb(const ngram_collector& batch, bool presence = false) {
        must_collect();
        absorbing with(add_words_of(batch.words), presence);
        for (std::size_t word = 0; word < with.singles.size(); ++word)
            with.singles[word].number = singles[with.word_of[word]];
        with.rows.indptr.reserve(batch.lengths.size() + 1);
        with.rows.indices.reserve(how.longest * batch.said.size());
        if (!presence) with.rows.values.reserve(how.longest * batch.said.size());
        std::size_t at = 0;
        for (const std::uint32_t length : batch.lengths) {
            add_row({batch.said.data() + at, length}, with);
            at += length;
        }
        if (how.shortest == 1)
            for (const auto& one : with.singles) found[one.number].rows += one.rows;
        return std::move(with.rows);
    }

    // Adds names as features, in their order. N-grams of words are split at the spaces.
    std::uint32_t add_name(std::string_view name) {
        must_collect();
        std::uint32_t number = npos;
        for (std::size_t at = 0; at <= name.size();) {
            const std::size_t space = how.tokens.longest_run > 0 ? name.npos : name.find(' ', at);
            const std::size_t end = std::min(space, name.size());
            const std::uint32_t word = words.find_or_add(name.substr(at, end - at));
            if (singles.size() < words.size()) singles.resize(words.size(), npos);
            if (number != npos)
                number = found.find_or_add(number, word);
            else
                number = number_of_single(word);
            at = end + 1;
        }
        return number;
    }

    // The numbers of the n-grams in at least `least` rows, the most frequent first; ties keep their order.
    std::vector<std::uint32_t> frequent(std::uint32_t min_count, std::size_t most) const {
        std::vector<std::uint32_t> chosen;
        must_collect();
        for (std::uint32_t number = 0; number < found.size(); ++number)
            if (found[number].rows >= std::max(min_count, 1u)) chosen.push_back(number);
        std::vector<std::uint32_t> sorted(chosen.size());
        for (const unsigned shift : {0u, 16u}) {  // a radix sort, which keeps the order of equals
            std::vector<std::size_t> starts(0x10001);
            const auto digit = [&](std::uint32_t number) { return 0xffff - (found[number].rows >> shift & 0xffff); };
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
        both.prepare();
        std::vector<std::uint32_t> word_of(other.words.size()), number_of(other.grams.size(), npos);
        for (std::uint32_t word = 0; word < word_of.size(); ++word)
            word_of[word] = both.words.find_or_add(other.words[word]);
        both.singles.resize(both.words.size(), npos);
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

    // The contents of a vocabulary: its words, and its n-grams as pairs of numbers.
    name_list all_words() const { return words.names(); }
    std::vector<std::uint32_t> all_parts() const {
        std::vector<std::uint32_t> parts;
        parts.reserve(2 * known());
        for (std::uint32_t number = 0; number < known(); ++number) {
            const auto [first, last] = parts_of(number);
            parts.push_back(first);
            parts.push_back(last);
        }
        return parts;
    }

    // Adds what another vocabulary has collected: its contents, and the number of rows with each n-gram. Returns the
    // numbers of its n-grams here. They are those that its texts would have if they were absorbed here, because the
    // beginning of an n-gram is collected before it, and new n-grams are numbered in the order in which they occur.
    std::vector<std::uint32_t> absorb_collected(std::span<const std::string_view> other_words,
                                                std::span<const std::uint32_t> other_parts,
                                                std::span<const std::uint32_t> rows) {
        must_collect();
        if (other_parts.size() != 2 * rows.size())
            throw std::invalid_argument("there is not one count for each n-gram");
        std::vector<std::uint32_t> word_of(other_words.size()), numbers(rows.size());
        for (std::size_t word = 0; word < word_of.size(); ++word) word_of[word] = words.find_or_add(other_words[word]);
        if (singles.size() < words.size()) singles.resize(words.size(), npos);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::uint32_t first = other_parts[2 * i], last = other_parts[2 * i + 1];
            if (last >= word_of.size() || (first != npos && first >= i))
                throw std::invalid_argument("an n-gram has a part that is not there");
            numbers[i] =
                first == npos ? number_of_single(word_of[last]) : found.find_or_add(numbers[first], word_of[last]);
            found[numbers[i]].rows += rows[i];
        }
        return numbers;
    }

    // The features that are the n-grams of a vocabulary that has collected these contents, by the numbers there; npos
    // for those that are no features here. The vocabulary must be prepared.
    std::vector<std::uint32_t> find_collected(std::span<const std::string_view> other_words,
                                              std::span<const std::uint32_t> other_parts) const {
        must_be_prepared();
        std::vector<std::uint32_t> word_of(other_words.size()), numbers(other_parts.size() / 2);
        for (std::size_t word = 0; word < word_of.size(); ++word) word_of[word] = words.find(other_words[word]);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const std::uint32_t first = other_parts[2 * i], last = other_parts[2 * i + 1];
            if (last >= word_of.size() || (first != npos && first >= i))
                throw std::invalid_argument("an n-gram has a part that is not there");
            const std::uint32_t word = word_of[last];
            if (word == npos || (first != npos && numbers[first] == npos))
                numbers[i] = npos;
            else
                numbers[i] = first == npos ? singles[word] : pairs.find(numbers[first], word);
        }
        for (std::uint32_t& number : numbers)
            if (number >= features()) number = npos;  // only the beginning of a feature
        return numbers;
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
            for (std::uint32_t at = number; at != npos; at = parts_of(at).first) said.push_back(parts_of(at).last);
            for (; !said.empty(); said.pop_back()) {
                all.write(words[said.back()]);
                if (said.size() > 1) all.write(" ");
            }
            all.end_name();
        }
        return all;
    }

    std::string name(std::uint32_t number) const {
        if (number >= known()) throw std::out_of_range("no such n-gram");
        const auto [first, last] = parts_of(number);
        return first == npos ? std::string(words[last]) : name(first) + ' ' + std::string(words[last]);
    }

    // Makes the table in which n-grams are found, if it is not there. Nothing else may use the vocabulary meanwhile.
    // A model that is only trained and saved never needs it.
    void prepare() const {
        must_have_chosen();
        if (prepared) return;
        pairs.reserve(paired);
        for (std::uint32_t number = 0; number < grams.size(); ++number) {
            if (number + ahead < grams.size()) pairs.expect(grams[number + ahead].first, grams[number + ahead].last);
            if (grams[number].first != npos) pairs.find_or_add(grams[number].first, grams[number].last, number);
        }
        prepared = true;
    }
    bool is_prepared() const { return prepared; }

    // The feature of an n-gram; npos if it is not a feature. The vocabulary must be prepared.
    std::uint32_t find(std::span<const std::string> ngram) const {
        must_be_prepared();
        std::uint32_t number = npos;
        for (const std::string& token : ngram) {
            const std::uint32_t word = words.find(token);
            if (word == npos) return npos;
            number = &token == ngram.data() ? singles[word] : pairs.find(number, word);
            if (number == npos) return npos;
        }
        return number < features() ? number : npos;
    }

    // Adds a row with the features in a text; other n-grams are skipped. Returns the text's length in tokens. The
    // vocabulary must be prepared.
    std::size_t read(std::string_view text, const valuation& values, ngram_reader& by, growing_rows& rows) const {
        must_be_prepared();
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
            by.current[i] = by.said[i] == npos ? npos : singles[by.said[i]];
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
    static constexpr std::uint32_t ahead = 16;  // places in memory are prefetched this many n-grams ahead

    // The n-gram without its last word, npos if it has one word, and the last word.
    struct gram {
        std::uint32_t first, last;
    };
    // A word of a batch: its number as an n-gram, its last place among the values, and the rows of the batch with it.
    struct batch_word {
        std::uint32_t number = npos;
        std::uint32_t note = 0;
        std::uint32_t rows = 0;
    };
    // What the rows of a batch need while they are added.
    struct absorbing {
        absorbing(std::vector<std::uint32_t>&& word_of, bool presence)
            : word_of(std::move(word_of)), presence(presence), singles(this->word_of.size()) {}

        const std::vector<std::uint32_t> word_of;  // by word of the batch
        const bool presence;
        growing_rows rows;
        std::vector<batch_word> singles;             // by word of the batch
        std::vector<std::uint32_t> current, last;    // of the row: the n-gram at each place, and its last word
        std::vector<std::uint32_t> indices, counts;  // of the row
    };

    void must_collect() const {
        if (!collecting) throw std::logic_error("the features are chosen already");
    }

    void must_have_chosen() const {
        if (collecting) throw std::logic_error("the features are not chosen yet");
    }

    void must_be_prepared() const {
        if (!prepared) throw std::logic_error("the vocabulary is not prepared");
    }

    void choose(std::span<const std::uint32_t> chosen) {
        std::vector<std::uint32_t> renumbered(known(), npos), order;
        const auto take = [&](std::uint32_t number) {
            renumbered[number] = static_cast<std::uint32_t>(order.size());
            order.push_back(number);
        };
        for (const std::uint32_t number : chosen) {
            if (number >= known() || renumbered[number] != npos) throw std::invalid_argument("no such choice");
            take(number);
        }
        for (std::size_t next = 0; next < order.size();) {  // the order grows meanwhile
            const std::uint32_t first = parts_of(order[next++]).first;
            if (first != npos && renumbered[first] == npos) take(first);
        }
        ngram_vocabulary slim(how);
        std::vector<std::uint32_t> word_of(words.size(), npos);
        slim.grams.reserve(order.size());
        for (const std::uint32_t number : order) {
            const auto [first, last] = parts_of(number);
            if (word_of[last] == npos) word_of[last] = slim.words.find_or_add(words[last]);
            slim.grams.push_back({first == npos ? npos : renumbered[first], word_of[last]});
        }
        slim.singles.resize(slim.words.size(), npos);
        for (std::uint32_t number = 0; number < order.size(); ++number) {
            const auto [first, last] = slim.grams[number];
            if (first == npos) slim.singles[last] = number;
            slim.paired += first != npos;
        }
        slim.kept = chosen.size();
        become(slim);
    }

    gram parts_of(std::uint32_t number) const {
        return collecting ? gram{found[number].first, found[number].last} : grams[number];
    }

    // The numbers of a batch's words; new ones get a number.
    std::vector<std::uint32_t> add_words_of(const word_table& batch) {
        std::vector<std::uint32_t> word_of(batch.size());
        std::vector<std::uint64_t> keys(batch.size());
        const auto count = static_cast<std::uint32_t>(batch.size());
        for (std::uint32_t word = 0; word < count; ++word) {
            for (std::uint32_t next = word == 0 ? 0 : word + ahead; next <= word + ahead && next < count; ++next)
                keys[next] = words.expect(batch[next]);
            word_of[word] = words.find_or_add(batch[word], keys[word]);
        }
        if (singles.size() < words.size()) singles.resize(words.size(), npos);
        return word_of;
    }

    std::uint32_t number_of_single(std::uint32_t word) {
        if (singles[word] == npos) singles[word] = found.push({npos, word, 0, 0});
        return singles[word];
    }

    // Adds a row with all n-grams of these words of the batch; new ones get a number.
    void add_row(std::span<const std::uint32_t> said, absorbing& with) {
        check_room(with.rows, how, said.size());
        make_room(how.longest * said.size(), with);
        with.indices.resize(std::max(with.indices.size(), how.longest * said.size() + 1));
        with.counts.resize(with.indices.size());
        std::size_t size = add_singles(said, with);
        std::uint32_t* const indices = with.indices.data();
        std::uint32_t* const counts = with.counts.data();
        for (std::size_t length = 2; length <= std::min(how.longest, said.size()); ++length) {
            const std::size_t count = said.size() - length + 1;
            for (std::size_t start = 0; start < count; start += slice) {
                const std::size_t some = std::min(slice, count - start);
                std::uint32_t* const current = with.current.data() + start;
                const std::span<const std::uint32_t> last(with.last.data() + start + length - 1, some);
                // The n-gram at i with one word less is at i until this one replaces it.
                found.each({current, some}, last,
                           [&](std::size_t i, std::uint32_t number, collected_grams::record& one) {
                               current[i] = number;
                               if (length < how.shortest) return;
                               if (one.note >= written) {
                                   ++counts[one.note - written];
                                   return;
                               }
                               one.note = static_cast<std::uint32_t>(written + size);
                               ++one.rows;
                               indices[size] = number;
                               counts[size++] = 1;
                           });
            }
        }
        written += size;
        with.rows.indices.insert(with.rows.indices.end(), indices, indices + size);
        if (!with.presence) with.rows.values.insert(with.rows.values.end(), counts, counts + size);
        with.rows.end_row();
    }

    // Starts a row with its single words, and returns how many there are. The processor cannot predict whether a word
    // is repeated in the text, so there is no branch: its count, or a new one after the last, is always written.
    std::size_t add_singles(std::span<const std::uint32_t> said, absorbing& with) {
        if (how.longest > 1) {
            with.current.resize(said.size());
            with.last.resize(said.size());
        }
        std::size_t size = 0;
        for (std::size_t i = 0; i < said.size(); ++i) {
            batch_word& at = with.singles[said[i]];
            if (at.number == npos) at.number = number_of_single(with.word_of[said[i]]);
            if (how.longest > 1) {
                with.current[i] = at.number;
                with.last[i] = with.word_of[said[i]];
            }
            const bool again = at.note >= written;
            const std::size_t place = again ? at.note - written : size;
            with.indices[place] = at.number;
            with.counts[place] = again ? with.counts[place] + 1 : 1;
            at.note = static_cast<std::uint32_t>(written + place);
            at.rows += !again;
            size += !again;
        }
        return how.shortest == 1 ? size : 0;
    }

    // Notes are places among all values that were ever written. When the numbers are used up, they start again.
    void make_room(std::size_t values, absorbing& with) {
        if (written + values < limit) return;
        for (auto& one : found) one.note = 0;
        for (auto& one : with.singles) one.note = 0;
        written = 1;
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
        singles.resize(words.size(), npos);
        pairs.reserve(static_cast<std::size_t>(std::count_if(parts.begin(), parts.end(), is_pair)));
        grams.reserve(parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i + ahead < parts.size()) pairs.expect(parts[i + ahead].first, parts[i + ahead].last);
            if (add(parts[i].first, parts[i].last) != i) throw std::invalid_argument("an n-gram is there twice");
        }
        prepared = true;
    }

    // Replaces this vocabulary by one whose features are chosen.
    void become(ngram_vocabulary& other) {
        words = std::move(other.words);
        singles = std::move(other.singles);
        pairs = std::move(other.pairs);
        grams = std::move(other.grams);
        prepared = other.prepared;
        paired = other.paired;
        kept = other.kept;
        collecting = false;
        found = collected_grams();
    }

    // The number of an n-gram; a new one gets the next number. There must be room.
    std::uint32_t add(std::uint32_t first, std::uint32_t last) {
        const std::uint32_t next = next_number(grams.size(), "too many n-grams");
        if (first == npos && singles[last] == npos) singles[last] = next;
        const std::uint32_t number = first == npos ? singles[last] : pairs.find_or_add(first, last, next);
        if (number == next) {
            grams.push_back({first, last});
            paired += first != npos;
        }
        return number;
    }

    std::size_t limit;
    word_table words;
    std::vector<std::uint32_t> singles;  // the n-gram of one word, by word
    collected_grams found;               // while n-grams are collected
    std::size_t written = 1;             // values that were written, while n-grams are collected
    // After they are chosen:
    mutable gram_table pairs;  // empty until it is needed
    mutable bool prepared = false;
    std::vector<gram> grams;  // by number
    std::size_t paired = 0;   // those of two words or more
    std::size_t kept = 0;
    bool collecting = true;
};

}  // namespace markone
