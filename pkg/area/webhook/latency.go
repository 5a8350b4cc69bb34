package webhook

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Latency summarises how fast a receiver answers.
type Latency struct {
	// 50th percentile in milliseconds, accurate to 10 %.
	P50 int64 `json:"p50_ms" example:"42"`
	// 90th percentile in milliseconds, accurate to 10 %.
	P90 int64 `json:"p90_ms" example:"96"`
	// 99th percentile in milliseconds, accurate to 10 %.
	P99 int64 `json:"p99_ms" example:"310"`
	// Number of responses counted.
	Count int64 `json:"count" example:"1840"`
}

// accuracy is the relative error of a percentile.
const accuracy = 0.1

// growth is the ratio of the bounds of a bucket: no value in it differs from its middle by more than accuracy.
const growth = (1 + accuracy) / (1 - accuracy)

// Sketch is a DDSketch of latencies: bucket n counts latencies of up to growth^n milliseconds. It is small (all
// latencies of an attempt fall into some fifty buckets), and two sketches add up without loss.
type Sketch map[int]int64

// Bucket returns the bucket of a latency.
func Bucket(ms int64) int { return int(math.Ceil(math.Log(float64(max(ms, 1))) / math.Log(growth))) }

// middle returns the latency that stands for a bucket.
func middle(bucket int) int64 {
	return int64(math.Round(2 * math.Pow(growth, float64(bucket)) / (growth + 1)))
}

// Plus returns the sum of both sketches.
func (s Sketch) Plus(more Sketch) Sketch {
	sum := maps.Clone(s)
	if sum == nil {
		sum = Sketch{}
	}
	for n, count := range more {
		sum[n] += count
	}
	return sum
}

// percentiles returns the percentiles, or nil if the sketch is empty.
func (s Sketch) percentiles() *Latency {
	var l Latency
	for _, count := range s {
		l.Count += count
	}
	if l.Count == 0 {
		return nil
	}
	buckets := slices.Sorted(maps.Keys(s))
	percentile := func(p int64) int64 {
		rank := (l.Count*p + 99) / 100
		for _, n := range buckets {
			if rank -= s[n]; rank <= 0 {
				return middle(n)
			}
		}
		return 0 // not reached: the counts add up to at least the rank
	}
	l.P50, l.P90, l.P99 = percentile(50), percentile(90), percentile(99)
	return &l
}

// Latencies are the answers of the running hour and of the one before it.
type Latencies struct {
	Hour    time.Time `json:"hour"` // when the running hour began
	Current Sketch    `json:"current,omitempty"`
	Before  Sketch    `json:"before,omitempty"`
}

// With returns the latencies at the given time, with more of them.
func (l Latencies) With(more Sketch, now time.Time) Latencies {
	switch hour := now.UTC().Truncate(time.Hour); {
	case !hour.After(l.Hour): // another function's clock may be ahead of ours
	case hour.Sub(l.Hour) == time.Hour:
		l = Latencies{Hour: hour, Before: l.Current}
	default:
		l = Latencies{Hour: hour}
	}
	l.Current = l.Current.Plus(more)
	return l
}

// Percentiles returns the percentiles at the given time, or nil without answers.
func (l Latencies) Percentiles(now time.Time) *Latency {
	l = l.With(nil, now)
	return l.Current.Plus(l.Before).percentiles()
}

// Slow reports whether one answer in ten, or more, took at least the given time. The
// latencies count as they were written, whatever the hour is.
func (l Latencies) Slow(limit time.Duration) bool {
	all := l.Current.Plus(l.Before).percentiles()
	return all != nil && all.P90 >= limit.Milliseconds()
}
