package webhook

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// Latency tells how fast a receiver answers.
type Latency struct {
	P50   int64 `json:"p50" doc:"Milliseconds that half of the answers took at most, exact to a tenth" example:"42"`
	P90   int64 `json:"p90" doc:"Milliseconds that 90 % of the answers took at most, exact to a tenth" example:"96"`
	P99   int64 `json:"p99" doc:"Milliseconds that 99 % of the answers took at most, exact to a tenth" example:"310"`
	Count int64 `json:"count" doc:"How many answers were counted" example:"1840"`
}

// SchemaName names the schema in the OpenAPI document.
func (Latency) SchemaName() string { return "WebhookLatency" }

// accuracy is how far a percentile may be from the true one, as a part of it.
const accuracy = 0.1

// growth is the ratio of the bounds of a bucket. Then no value in it differs from
// its middle by more than accuracy.
const growth = (1 + accuracy) / (1 - accuracy)

// histogram counts answers by bucket: bucket n is for latencies of up to growth^n
// milliseconds. All latencies that an attempt can have are in some fifty buckets,
// those of one receiver in a few.
type histogram map[int]int64

// bucket gives the number of a latency's bucket.
func bucket(ms int64) int { return int(math.Ceil(math.Log(float64(max(ms, 1))) / math.Log(growth))) }

// middle gives the latency that stands for a bucket.
func middle(bucket int) int64 {
	return int64(math.Round(2 * math.Pow(growth, float64(bucket)) / (growth + 1)))
}

// plus gives the sum of both.
func (h histogram) plus(more histogram) histogram {
	sum := maps.Clone(h)
	if sum == nil {
		sum = histogram{}
	}
	for n, count := range more {
		sum[n] += count
	}
	return sum
}

// latency gives the percentiles, or nil where nothing was counted.
func (h histogram) latency() *Latency {
	var l Latency
	for _, count := range h {
		l.Count += count
	}
	if l.Count == 0 {
		return nil
	}
	buckets := slices.Sorted(maps.Keys(h))
	percentile := func(p int64) int64 {
		wanted := (l.Count*p + 99) / 100
		for _, n := range buckets {
			if wanted -= h[n]; wanted <= 0 {
				return middle(n)
			}
		}
		return 0 // not reached: the counts add up to more than is wanted
	}
	l.P50, l.P90, l.P99 = percentile(50), percentile(90), percentile(99)
	return &l
}

// latencies are the answers of the running hour and of the one before it.
type latencies struct {
	Hour    time.Time `json:"hour"` // when the running hour began
	Current histogram `json:"current,omitempty"`
	Before  histogram `json:"before,omitempty"`
}

// with gives the latencies as they are at the given time, with more of them.
func (l latencies) with(more histogram, now time.Time) latencies {
	switch hour := now.UTC().Truncate(time.Hour); {
	case !hour.After(l.Hour): // also where the clock of another was ahead of ours
	case hour.Sub(l.Hour) == time.Hour:
		l = latencies{Hour: hour, Before: l.Current}
	default:
		l = latencies{Hour: hour}
	}
	l.Current = l.Current.plus(more)
	return l
}

// areSlow tells whether one answer in ten, or more, counts as slow.
func (l latencies) areSlow() bool {
	all := l.Current.plus(l.Before).latency()
	return all != nil && all.P90 >= slowAfter.Milliseconds()
}

// view gives the webhook as callers see it at the given time.
func (r *record) view(now time.Time) Webhook {
	w, l := r.Webhook, r.Latencies.with(nil, now)
	w.LatencyMS = l.Current.plus(l.Before).latency()
	return w
}

// maxTallied bounds the webhooks that a function counts for.
const maxTallied = 10_000

// tallies are the answers that a function has seen of each webhook since it last
// wrote them down. They are not worth a write of their own: they go along with the
// next write of the webhook's health, and some are lost when the function ends.
type tallies struct {
	mu sync.Mutex
	of map[store.Key]tally
}

type tally struct {
	since   time.Time
	answers histogram
}

// add counts an attempt that was answered.
func (t *tallies) add(webhook store.Key, a Attempt, now time.Time) {
	if a.Status != nil {
		t.put(webhook, tally{now, histogram{bucket(a.LatencyMS): 1}}, now)
	}
}

// put adds answers to those of a webhook.
func (t *tallies) put(webhook store.Key, more tally, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || len(t.of) >= maxTallied {
		t.of = map[store.Key]tally{}
	}
	// What is older would pass for new when it is written down.
	fresh := func(s tally) bool { return now.Sub(s.since) < time.Hour }
	had := t.of[webhook]
	switch {
	case fresh(had):
		for n, count := range more.answers {
			had.answers[n] += count
		}
	case fresh(more):
		t.of[webhook] = more
	}
}

// take gives the answers of a webhook, and counts anew.
func (t *tallies) take(webhook store.Key) tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.of[webhook]
	delete(t.of, webhook)
	return taken
}
