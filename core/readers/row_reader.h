// What the readers of lines that are rows share: names that get numbers, and rows that name each feature once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "readers/lines.h"
#include "rows/row_builder.h"
#include "text/vocabulary.h"

namespace markone {

struct labelled_rows : growing_rows {
    std::vector<std::int32_t> labels;
    std::vector<double> importance;  // none at all where the format has no such thing
};

// A line is read in two steps, so that a bad one leaves no names behind: first it is taken apart, then its features and
// its label get their numbers. What is said twice in a line adds up; sums are kept in double and rounded once. Names is
// the table of the features' names.
template <class Names>
class row_reader {
  public:
    Names features;
    word_table labels;

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

    // A line's values must not be too large together, either; then no sum of some of them is.
    template <class Piece>
    void begin_row(std::string_view line, const std::vector<Piece>& pieces) {
        double total = 0;
        for (const Piece& one : pieces) total += std::abs(one.value);
        if (!fits(total)) refuse(line, "the values of ", " add up to too large a number");
        numbers.clear();
        sums.clear();
    }

    // The name is what its table finds it by.
    template <class... Name>
    void add(double value, const Name&... name) {
        const std::uint32_t feature = features.find_or_add(name...);
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

    void end_row(std::string_view label, labelled_rows& rows) {
        rows.labels.push_back(label.empty() ? unlabelled : number_of_label(label, labels));
        rows.indices.insert(rows.indices.end(), numbers.begin(), numbers.end());
        for (const double sum : sums) rows.values.push_back(static_cast<float>(sum));
        rows.indptr.push_back(static_cast<std::int64_t>(rows.indices.size()));
    }

  private:
    std::vector<std::uint32_t> met;      // by feature
    std::vector<std::uint32_t> numbers;  // of the current row
    std::vector<double> sums;
};

}  // namespace markone
