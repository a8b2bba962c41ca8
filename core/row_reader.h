// What the readers of lines that are rows share: names that get numbers, and rows that name each feature once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lines.h"
#include "ngrams.h"
#include "numbers.h"
#include "vocabulary.h"

namespace markone {

struct labelled_rows : growing_rows {
    std::vector<std::int32_t> labels;
    std::vector<double> importance;  // none at all where the format has no such thing
};

// A line is read in two steps, so that a bad one leaves no names behind: first it is taken apart, then its features and
// its label get their numbers. Names is the table of the features' names. What is said twice in a line adds up. Sums
// are kept in double and rounded once.
template <class Names>
class row_reader {
  public:
    Names features;
    word_table labels;

    // From now on features that are not known are passed over. Labels go on to be numbered: whoever meets a new one
    // can tell.
    void freeze() { frozen = true; }

  protected:
    // Whether the value is finite as a float, too: half a step above the largest one rounds to infinity.
    static bool fits(double value) { return std::abs(value) < 0x1.ffffffp127; }

    // The text as a number; `what` says whose.
    static double number(std::string_view text, std::string_view what) {
        double value = 0;
        const number_fault fault = read_number(text, value);
        if (fault == number_fault::not_a_number) refuse(text, what, " is not a number");
        if (fault == number_fault::not_finite) refuse(text, what, " is not finite");
        if (fault == number_fault::out_of_range) refuse(text, what, " is too large or too small");
        return value;
    }

    void begin_row() {
        numbers.clear();
        sums.clear();
    }

    template <class Name>
    void add(const Name& name, double value) {
        const std::uint32_t feature = frozen ? features.find(name) : features.find_or_add(name);
        if (feature == nobody) return;
        if (feature >= met.size()) met.resize(features.size());
        // Where a row last named it: if that is this row, it is this feature that stands there.
        if (met[feature] < numbers.size() && numbers[met[feature]] == feature) {
            sums[met[feature]] += value;
            return;
        }
        met[feature] = static_cast<std::uint32_t>(numbers.size());
        numbers.push_back(feature);
        sums.push_back(value);
    }

    void end_row(std::string_view line, std::string_view label, labelled_rows& rows) {
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (!fits(sums[i])) refuse_sum(line, name_of(features, numbers[i]));
        rows.labels.push_back(label.empty() ? unlabelled : number_of_label(label, labels));
        rows.indices.insert(rows.indices.end(), numbers.begin(), numbers.end());
        for (const double sum : sums) rows.values.push_back(static_cast<float>(sum));
        rows.indptr.push_back(static_cast<std::int64_t>(rows.indices.size()));
    }

  private:
    [[noreturn, gnu::cold]] static void refuse_sum(std::string_view line, const std::string& name) {
        throw bad_piece{line.data(), "the values of " + quoted(name) + " add up to too large a number"};
    }

    bool frozen = false;
    std::vector<std::uint32_t> met;  // by feature
    std::vector<std::uint32_t> numbers;
    std::vector<double> sums;
};

}  // namespace markone
