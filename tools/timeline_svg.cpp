#include "tools/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <vector>

#include "ir/program/program.h"

namespace anabranch {
namespace {

using timeline::Category;
using timeline::Clock;
using timeline::Event;
using timeline::Track;

// In pixels.
constexpr double width = 1100, gutter = 120, margin = 12;
constexpr double bar_height = 24, row_height = 32, axis_height = 34;
constexpr double letter_width = 6.3, text_padding = 4;

constexpr const char* host_colour = "#e4e4e4";

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

bool is_launch(const Event& event) {
  switch (event.category) {
    case Category::kernel:
    case Category::library:
    case Category::loop:
    case Category::branch:
    case Category::copy:
      return event.track.kind == Track::Kind::stream;
    default:
      return false;
  }
}

class Picture {
 public:
  explicit Picture(const timeline::Timeline& timeline) : events_(timeline.events) {
    begin_ = Clock::time_point::max();
    end_ = Clock::time_point::min();
    for (const Event& event : events_) {
      if (!is_launch(event)) continue;
      begin_ = std::min(begin_, event.begin);
      end_ = std::max(end_, event.end);
    }
    if (begin_ >= end_) begin_ = end_ = timeline.begin;
    for (const Event& event : events_) {
      if (is_seen(event)) rows_.try_emplace(place(event.track));
    }
    double top = margin;
    for (auto& [where, y] : rows_) {
      y = top;
      top += row_height;
    }
    bottom_ = top;
  }

  std::string draw() {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width, bottom_ + axis_height);
    axis();
    for (const auto& [where, y] : rows_) {
      text(margin, y + bar_height / 2 + 4, to_string(where.second));
    }
    for (const Event& event : events_) {
      if (is_seen(event) && event.category != Category::record) bar(event);
    }
    arrows();
    return out_ + "</svg>\n";
  }

 private:
  // Above are the program's threads, then the streams, the copies, then the threads that ran them.
  static std::pair<int, Track> place(const Track& track) {
    constexpr int order[] = {0, 3, 1, 2};
    return {order[static_cast<std::size_t>(track.kind)], track};
  }

  bool is_seen(const Event& event) const { return event.end >= begin_ && event.begin <= end_; }

  double x(Clock::time_point time) const {
    const auto whole = std::chrono::duration<double>(end_ - begin_).count();
    const double part =
        std::chrono::duration<double>(time - begin_).count() / std::max(whole, 1e-9);
    return gutter + std::clamp(part, 0.0, 1.0) * (width - gutter - margin);
  }
  double y(const Track& track) const { return rows_.at(place(track)); }

  void text(double left, double baseline, const std::string& content) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left, baseline,
                        escaped(content));
  }

  // About eight marks at round numbers.
  void axis() {
    const double whole = std::chrono::duration<double, std::micro>(end_ - begin_).count();
    double step = std::pow(10, std::floor(std::log10(std::max(whole / 8, 1e-3))));
    for (double factor : {2.0, 2.5, 2.0}) {
      if (whole / step > 10) step *= factor;
    }
    for (double at = 0; at <= whole; at += step) {
      const double left = x(begin_ + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double, std::micro>(at)));
      out_ += fmt::format("<path d=\"M{0:.1f} {1}V{2:.1f}\" stroke=\"#dddddd\"/>\n", left, margin,
                          bottom_ + 4);
      text(left - 2, bottom_ + 18,
           whole < 5000 ? fmt::format("{:g} us", at) : fmt::format("{:g} ms", at / 1000));
    }
  }

  void bar(const Event& event) {
    const bool waits = event.category == Category::wait;
    const double left = x(event.begin), wide = std::max(x(event.end) - left, 0.5);
    const double high = waits ? 4 : bar_height;
    const double top = y(event.track) + (bar_height - high) / 2;
    const auto took = std::chrono::duration<double, std::micro>(event.end - event.begin).count();
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
        "stroke=\"#666666\" stroke-width=\"{}\"><title>{}, {:.1f} us</title></rect>\n",
        left, top, wide, high, colour(event), waits ? 0 : 0.5, escaped(title(event)), took);
    if (waits) return;
    for (const std::string& label : {title(event), event.name}) {
      if (static_cast<double>(label.size()) * letter_width + 2 * text_padding > wide) continue;
      text(left + text_padding, top + bar_height / 2 + 4, label);
      return;
    }
  }

  const char* colour(const Event& event) const {
    if (event.category == Category::wait) return "#999999";
    if (event.track.kind == Track::Kind::stream) return stream_colour(event.track.index);
    if (event.category != Category::range) return host_colour;
    // What a thread does of a launch is within the launch.
    for (const Event& launch : events_) {
      if (is_launch(launch) && launch.name == event.name && launch.begin <= event.begin &&
          launch.end >= event.begin) {
        return stream_colour(launch.track.index);
      }
    }
    return host_colour;
  }

  void arrows() {
    std::map<std::uint64_t, const Event*> tails;
    for (const Event& event : events_) {
      if (event.category == Category::record) tails[event.details.arrow] = &event;
    }
    for (const Event& event : events_) {
      const auto tail = tails.find(event.details.arrow);
      if (event.category != Category::wait || tail == tails.end()) continue;
      if (!is_seen(event) || !is_seen(*tail->second)) continue;
      const double from = y(tail->second->track) + bar_height / 2;
      const double to = y(event.track) + bar_height / 2;
      out_ += fmt::format(
          "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"#333333\" stroke-dasharray=\"3 "
          "2\"/>\n",
          x(tail->second->begin), from, x(event.end), to);
    }
  }

  const std::vector<Event>& events_;
  Clock::time_point begin_, end_;
  std::map<std::pair<int, Track>, double> rows_;  // their upper edges
  double bottom_ = 0;
  std::string out_;
};

}  // namespace

std::string to_svg(const timeline::Timeline& timeline) { return Picture(timeline).draw(); }

}  // namespace anabranch
