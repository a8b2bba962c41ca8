// The common part of the readers of rows: names that get numbers, and rows without repeated features.
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
    std::vector<double> importance;  // empty if the format has no importance
};

// A line is read in two steps, so that a bad line adds no names: first it is split into pieces, then its features and
// its label get their numbers. Repeated features of a line are added up, in double, and rounded once. Names is
// the table of the features' names.
template <class Names>
class row_reader {
  public:
    Names features;
    word_table labels;

  protected:
    // Whether the value is finite as a float, too: half a step above the largest one rounds to infinity.
    static bool fits(double value) { return std::abs(value) < 0x1.ffffffp127; }

    // Reads the text as a number, which messages call `what`.
    static double number(std::string_view text, std::string_view what) {
        double value = 0;
        const number_fault fault = read_number(text, value);
        if (fault == number_fault::not_a_number) refuse(text, what, " is not a number");
        if (fault == number_fault::not_finite) refuse(text, what, " is not finite");
        if (fault == number_fault::out_of_range) refuse(text, what, " is too large or too small");
        return value;
    }

    // The sum of a line's absolute values must not be too large; then no partial sum is.
    template <class Piece>
    void begin_row(std::string_view line, const std::vector<Piece>& pieces) {
        double total = 0;
        for (const Piece& one : pieces) total += std::abs(one.value);
        if (!fits(total)) refuse(line, "the values of ", " add up to too large a number");
        numbers.clear();
        sums.clear();
    }

    // `name` is the key of the feature in its table.
    template <class... Name>
    void add(double value, const Name&... name) {
        const std::uint32_t feature = features.find_or_add(name...);
        if (feature >= met.size()) met.resize(features.size());
        // The last position of the feature, which shows whether it is already in this row.
        if (met[feature] < numbers.size() && numbers[met[feature]] == feature) {
            sums[met[feature]] += value;
            return;
        }
        met[feature] = static_cast<std::uint32_t>(numbers.size());
        numbers.push_back(feature);
        sums.push_back(value);
    }

    void end_row(std::string_view label, labelled_rows& rows) {
        rows.indices.insert(rows.indices.end(), numbers.begin(), numbers.end());
        for (const double sum : sums) rows.values.push_back(static_cast<float>(sum));
        end_with(label, rows);
    }

    // The row's features and values are there already.
    void end_with(std::string_view label, labelled_rows& rows) {
        rows.labels.push_back(label.empty() ? unlabelled : number_of_label(label, labels));
        rows.end_row();
    }

  private:
    std::vector<std::uint32_t> met;      // by feature
    std::vector<std::uint32_t> numbers;  // of the current row
    std::vector<double> sums;
};

}  // namespace markone
