#include "ir/text/read_index.h"

#include <string>

#include "ir/text/read_fields.h"

namespace anabranch {
Index IndexReader::sum() {
  Index all = product();
  while (reader_.at('+')) {
    const std::size_t start = reader_.position();
    reader_.accept('+');
    const Index next = product();
    all = located(reader_, start, [&] { return table_.add(all, next); });
  }
  return all;
}

Index IndexReader::product() {
  Index made = factor();
  for (;;) {
    const std::size_t start = reader_.position();
    if (reader_.accept('*')) {
      const std::int64_t by = reader_.integer("a factor");
      made = located(reader_, start, [&] { return table_.scale(made, by); });
    } else if (reader_.accept('/')) {
      const std::int64_t by = divisor();
      made = located(reader_, start, [&] { return table_.divide(made, by); });
    } else if (at_remainder()) {
      reader_.accept('%');
      const std::int64_t by = divisor();
      made = located(reader_, start, [&] { return table_.remainder(made, by); });
    } else {
      return made;
    }
    made = bounded(start, made);
  }
}

// A chain of quotients and remainders nests without brackets.
Index IndexReader::bounded(std::size_t start, Index made) const {
  if (table_[made].depth > most_nested) reader_.fail_at(start, "an index is nested too deep");
  return made;
}

// A name has no space after its percent sign.
bool IndexReader::at_remainder() const {
  const std::size_t next = reader_.position() + 1;
  return reader_.at('%') && next < reader_.text().size() && reader_.text()[next] == ' ';
}

std::int64_t IndexReader::divisor() {
  const std::size_t start = reader_.position();
  const std::int64_t by = reader_.integer("a divisor");
  if (by <= 0) reader_.fail_at(start, "a divisor is positive");
  return by;
}

Index IndexReader::factor() {
  const std::size_t start = reader_.position();
  if (++depth_ > most_nested) reader_.fail("an index is nested too deep");
  Index made;
  if (reader_.accept('(')) {
    made = sum();
    reader_.expect(')', "to close the parenthesis");
  } else if (reader_.accept_word("min")) {
    reader_.expect('(', "after min");
    const Index of = sum();
    reader_.expect(',', "and a bound");
    made = table_.least(of, reader_.integer("a bound"));
    reader_.expect(')', "after the bound");
  } else if (reader_.at('%')) {
    made = atom_();
  } else {
    const std::int64_t value = reader_.integer("a number, a name, min or a parenthesis");
    made = located(reader_, start, [&] { return table_.constant(value); });
  }
  --depth_;
  return bounded(start, made);
}

}  // namespace anabranch
