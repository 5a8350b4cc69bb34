package account

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Bounds are the upper bounds of the histograms, in milliseconds. Their places are stored,
// so new bounds are appended. Longer times are in one class more. Calls end within 30 s.
var Bounds = []int64{10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60_000, 120_000, 300_000, 600_000,
	1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000}

// keep is the time for which a month is kept after its begin: a year, and the rest of the current month.
const keep = 400 * 24 * time.Hour

// monthLayout is the format of a month.
const monthLayout = "2006-01"

// The attributes of a count.
const (
	calls    = "calls"
	failed   = "failed"
	refused  = "refused"
	position = "position"
	oldest   = "oldest"
	looked   = "looked"
)

func class(n int) string { return "class_" + strconv.Itoa(n) }

// classOf returns the class of the histogram that a latency falls into.
func classOf(ms int64) int {
	for n, bound := range Bounds {
		if ms <= bound {
			return n
		}
	}
	return len(Bounds)
}

// stack is the partition of the counts for all accounts together.
const stack = "levels#stack"

// The names of the counts besides calls. No operation has such an id.
const (
	delivery     = "/delivery"
	generation   = "/generation/"
	probe        = "/probe"
	levelWaiting = "/waiting"
)

// partition is the partition of an account's counts. Each operation has an item for each
// month, so that an update is small.
func partition(o tenant.Owner) string { return "levels#" + o.String() }

func keyOf(partition string, at time.Time, operation string) store.Key {
	return store.Key{PK: partition, SK: at.UTC().Format(monthLayout) + "#" + operation}
}

// Counts are how often something was done in a month.
type Counts struct {
	// Of is the counted operation, or the kind of a generation.
	Of string
	// Calls are how often it was tried, and Failed how often it failed. A call fails by a status from 500.
	Calls, Failed int64
	// Classes is the histogram of how long it took.
	Classes []int64
}

// Add adds the counts of something else.
func (c *Counts) Add(o Counts) {
	c.Calls += o.Calls
	c.Failed += o.Failed
	if c.Classes == nil {
		c.Classes = make([]int64, len(Bounds)+1)
	}
	for n, count := range o.Classes {
		c.Classes[n] += count
	}
}

// Percentile returns the bound that so many of a hundred times did not exceed, and false if
// there were none. It is the last bound for longer times.
func (c Counts) Percentile(p int64) (ms int64, ok bool) {
	var all, seen int64
	for _, n := range c.Classes {
		all += n
	}
	if all == 0 {
		return 0, false
	}
	for n, count := range c.Classes {
		if seen += count; seen*100 >= all*p {
			return Bounds[min(n, len(Bounds)-1)], true
		}
	}
	return Bounds[len(Bounds)-1], true
}

// Month has the counts of an account in a month.
type Month struct {
	// Operations and Generations are in the order of their names.
	Operations, Generations []Counts
	Deliveries              Counts
}

// ReadLevels reads the counts of an account in a month.
func ReadLevels(ctx context.Context, db *store.DB, o tenant.Owner, at time.Time) (m Month, err error) {
	err = read(ctx, db, partition(o), at, func(c Counts, _ store.Item) {
		switch made, ok := strings.CutPrefix(c.Of, generation); {
		case ok:
			c.Of = made
			m.Generations = append(m.Generations, c)
		case c.Of == delivery:
			m.Deliveries = c
		default:
			m.Operations = append(m.Operations, c)
		}
	})
	return m, err
}

// Stack has the counts of all accounts together in a month.
type Stack struct {
	// Probes failed if they did not get the expected answer.
	Probes Counts
	// Waiting are the looks for work that waits: they failed if they found some, and their
	// time is the age of the oldest.
	Waiting Counts
	// Oldest is the result of the last look, and Looked its time, or zero if there was none.
	Oldest time.Duration
	ReadAt time.Time
}

// ReadStack reads the counts of all accounts together in a month.
func ReadStack(ctx context.Context, db *store.DB, at time.Time) (s Stack, err error) {
	err = read(ctx, db, stack, at, func(c Counts, it store.Item) {
		switch c.Of {
		case probe:
			s.Probes = c
		case levelWaiting:
			s.Waiting = c
			s.Oldest = time.Duration(it.Numbers[oldest]) * time.Millisecond
			s.ReadAt = time.Unix(it.Numbers[looked], 0).UTC()
		}
	})
	return s, err
}

// mostCounts bounds how many counts one month lists.
const mostCounts = 500

func read(ctx context.Context, db *store.DB, partition string, at time.Time, each func(Counts, store.Item)) error {
	month := at.UTC().Format(monthLayout)
	q := store.Query{Index: store.Table, Partition: partition, From: month + "#", To: month + "#~", Limit: mostCounts,
		OldestFirst: true}
	return db.Each(ctx, q, func(it store.Item) error {
		_, of, _ := strings.Cut(it.SK, "#")
		c := Counts{Of: of, Calls: it.Numbers[calls], Failed: it.Numbers[failed], Classes: make([]int64, len(Bounds)+1)}
		for n := range c.Classes {
			c.Classes[n] = it.Numbers[class(n)]
		}
		each(c, it)
		return nil
	})
}

// update is the update that adds counts to an item.
func (c Counts) update(at time.Time) expression.UpdateBuilder {
	u := expression.Add(store.Number(calls), expression.Value(c.Calls))
	if c.Failed > 0 {
		u = u.Add(store.Number(failed), expression.Value(c.Failed))
	}
	for n, count := range c.Classes {
		if count > 0 {
			u = u.Add(store.Number(class(n)), expression.Value(count))
		}
	}
	y, m, _ := at.UTC().Date()
	return store.Expires(u, time.Date(y, m, 1, 0, 0, 0, 0, time.UTC).Add(keep))
}

// once returns the counts of one that took so long.
func once(took time.Duration, ok bool) Counts {
	c := Counts{Calls: 1, Classes: make([]int64, len(Bounds)+1)}
	c.Classes[classOf(took.Milliseconds())] = 1
	if !ok {
		c.Failed = 1
	}
	return c
}

// add adds counts to an update, and writes it.
func add(ctx context.Context, db *store.DB, key store.Key, u expression.UpdateBuilder) error {
	counted := store.Number(calls)
	always := expression.Or(counted.AttributeNotExists(), counted.GreaterThanEqual(expression.Value(0)))
	_, err := db.Update(ctx, key, u, always)
	return err
}

// Probed counts a probe of the service.
func Probed(ctx context.Context, db *store.DB, at time.Time, took time.Duration, ok bool) error {
	return add(ctx, db, keyOf(stack, at, probe), once(took, ok).update(at))
}

// Waited counts a look for work that waits, and keeps the age of the oldest, or zero if none waits.
func Waited(ctx context.Context, db *store.DB, at time.Time, age time.Duration) error {
	u := once(age, age == 0).update(at).
		Set(store.Number(oldest), expression.Value(age.Milliseconds())).Set(store.Number(looked),
		expression.Value(at.Unix()))
	return add(ctx, db, keyOf(stack, at, levelWaiting), u)
}

// Observe returns the observer of a kernel: it counts everything that was made, with the
// time from its order to its end. Only the time of a success is counted.
func Observe(db *store.DB) func(context.Context, task.EndedTask) error {
	return func(ctx context.Context, e task.EndedTask) error {
		c := once(e.Took, e.Done)
		if !e.Done {
			c.Classes = nil
		}
		return add(ctx, db, keyOf(partition(e.Owner), e.At, generation+e.Label), c.update(e.At))
	}
}

// Delivered counts deliveries to webhooks that have ended.
func Delivered(ctx context.Context, db *store.DB, o tenant.Owner, at time.Time, delivered, lost int64) error {
	return add(ctx, db, keyOf(partition(o), at, delivery), Counts{Calls: delivered + lost, Failed: lost}.update(at))
}

// Targets are the promises of a plan.
type ServiceLevelTargets struct {
	// Least part of the calls that the service answers without an error of its own, in percent.
	Availability float64 `json:"availability_percent" example:"99.9"`
	// Most of the calls that end with a status from 500, in percent.
	ErrorRate float64 `json:"error_rate_percent" example:"0.1"`
	// Most that 95 of 100 calls take, in milliseconds.
	LatencyP95 int64 `json:"latency_p95_ms" example:"1000"`
}

// targets are the promises by plan. Only plans that may use the API have any.
var targets = map[string]ServiceLevelTargets{auth.EnterprisePlan: {Availability: 99.9, ErrorRate: 0.1,
	LatencyP95: 1000}}

// ServiceLevelMeasured are the service levels of some calls.
type ServiceLevelMeasured struct {
	// Calls that were answered, refused ones included.
	Calls int64 `json:"calls"`
	// Calls that were answered with a status from 500.
	Failed int64 `json:"failed"`
	// Part of the calls that did not fail, in percent. Null without calls.
	Availability *float64 `json:"availability_percent" example:"99.98"`
	// Part of the calls that failed, in percent. Null without calls.
	ErrorRate *float64 `json:"error_rate_percent" example:"0.02"`
	// Most that 50 of 100 calls took, in milliseconds, rounded up to 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000
	// or 30000. Null without calls.
	LatencyP50 *int64 `json:"latency_p50_ms" example:"50"`
	// The same of 95 of 100 calls.
	LatencyP95 *int64 `json:"latency_p95_ms" example:"250"`
	// The same of 99 of 100 calls.
	LatencyP99 *int64 `json:"latency_p99_ms" example:"500"`
}

// OperationServiceLevels are the service levels of one operation.
type OperationServiceLevels struct {
	// operationId.
	OperationID string `json:"operation_id" example:"createContentItem"`
	ServiceLevelMeasured
}

// GenerationServiceLevels are how often something was generated, and how long it took.
type GenerationServiceLevels struct {
	// What was created: a content item or a generation.
	Resource string `json:"resource" enum:"content_item,generation" example:"content_item"`
	// Its kind.
	Kind string `json:"kind" example:"post"`
	// Those that have ended, except canceled ones.
	Count int64 `json:"count"`
	// Those that failed, for whatever reason.
	Failed int64 `json:"failed"`
	// Most that 50 of 100 successful ones took from the call to their media, in milliseconds, rounded up as latencies,
	// and beyond to 60000, 120000, 300000, 600000, 1800000, 3600000, 7200000, 21600000 or 86400000. Null where none
	// succeeded.
	TimeP50 *int64 `json:"time_p50_ms" example:"30000"`
	// The same of 95 of 100.
	TimeP95 *int64 `json:"time_p95_ms" example:"60000"`
	// The same of 99 of 100.
	TimeP99 *int64 `json:"time_p99_ms" example:"120000"`
}

// DeliveryServiceLevels are how many deliveries reached their receivers.
type DeliveryServiceLevels struct {
	// Deliveries to the account's webhooks that have ended.
	Count int64 `json:"count"`
	// Those that were given up after their last attempt, or because the webhook was deleted or disabled.
	Failed int64 `json:"failed"`
	// Part of the deliveries that succeeded, in percent. Null without deliveries.
	Success *float64 `json:"success_percent" example:"99.95"`
}

// WaitingServiceLevels are how long work waits, of all accounts together.
type WaitingServiceLevels struct {
	// Checks in the month. Every minute the service looks for work that should have begun.
	Checks int64 `json:"checks"`
	// Checks that found work more than two minutes late.
	Late int64 `json:"late"`
	// By how much the oldest work was late at the last check of the month, in milliseconds; 0 where none was late. Null
	// without checks.
	Oldest *int64 `json:"oldest_ms" example:"0"`
	// The same of 99 of 100 checks, rounded up as times of generations, and 0 where none was late. Null without checks.
	OldestP99 *int64 `json:"oldest_p99_ms" example:"0"`
	// When the last check was. Null without checks.
	CheckedAt *resource.Time `json:"checked_at" example:"2026-11-22T09:30:00Z"`
}

// ServiceLevelProbes are the results of the service's own probes.
type ServiceLevelProbes struct {
	// Probes in the month. Every five minutes one creates a content item in a sandbox and waits for its media.
	Count int64 `json:"count"`
	// Probes that did not get their media in time.
	Failed int64 `json:"failed"`
	// Part of the probes that succeeded, in percent. Null without probes.
	Availability *float64 `json:"availability_percent" example:"100"`
	// Most that 95 of 100 probes took from the call to the media, in milliseconds. Null without probes.
	LatencyP95 *int64 `json:"latency_p95_ms" example:"10000"`
}

// ServiceLevels are how well the service worked for an account in a month.
type ServiceLevels struct {
	// Month, UTC.
	Month string `json:"month" example:"2026-11"`
	// What the plan of the account promises.
	Targets ServiceLevelTargets `json:"targets"`
	// Whether the targets are met so far. Null without calls.
	Met *bool `json:"met"`
	// All calls of the account in the mode of the key.
	All ServiceLevelMeasured `json:"all"`
	// The calls by operation, in the order of their ids.
	Operations []OperationServiceLevels `json:"operations" nullable:"false"`
	// What was generated for the account in the mode of the key, by kind.
	Generations []GenerationServiceLevels `json:"generations" nullable:"false"`
	// Deliveries to webhooks of the account in the mode of the key.
	Deliveries DeliveryServiceLevels `json:"deliveries"`
	// How long tasks and deliveries wait. It is measured of all accounts of the service together.
	Waiting WaitingServiceLevels `json:"waiting"`
	// Probes by the service itself, which count calls that never reach it, too. They are the same for all accounts of
	// the service.
	Probes ServiceLevelProbes `json:"probes"`
}

// Levels serves the service levels.
type Levels struct {
	db  *store.DB
	now func() time.Time
}

// NewLevels returns the operation that reads service levels.
func NewLevels(db *store.DB, now func() time.Time) *Levels { return &Levels{db, now} }

// monthsKept is the number of months that can be read, including the current one.
const monthsKept = 13

type levelsInput struct {
	// Month, such as 2026-11; the running one without it. The last 12 months and the running one can be read.
	Month string `query:"month" format:"month"`
}

// Register puts the operation into the router.
func (s *Levels) Register(r *httpapi.Router) {
	httpapi.Read(r, httpapi.Op{
		ID: "getServiceLevels", Method: http.MethodGet, Path: "/v1/service-levels", Scope: auth.AccountRead,
		AccountWide: true,
		Function:    "account", Tag: "Account",
		Summary: "Get the service levels of a month",
		Description: "Shows availability, error rate and latency of the account's calls in a month, beside what its " +
			"plan promises; how long generations took, and how many deliveries reached their webhooks. A live key " +
			"shows what live keys did, a test key the sandbox. " +
			"Calls are counted about a minute after they were made. A call that the gateway answers on its own " +
			"reaches no operation and is not counted; `probes` shows whether the service could be reached. " +
			"`/api-docs/guides/service-levels` has more.", Opens: httpapi.Nothing,
	}, s.get)
}

func (s *Levels) get(ctx context.Context, in *levelsInput) (ServiceLevels, error) {
	now := s.now().UTC()
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	if in.Month != "" {
		asked, err := time.Parse("2006-01", in.Month)
		if err != nil || asked.After(month) || asked.Before(month.AddDate(0, 1-monthsKept, 0)) {
			return ServiceLevels{}, errs.Invalid("month", "must be one of the last 12 months or the running one")
		}
		month = asked
	}
	var counted Month
	var together Stack
	var failed, stackFailed error
	var both sync.WaitGroup
	both.Go(func() { counted, failed = ReadLevels(ctx, s.db, auth.FromContext(ctx).Owner, month) })
	both.Go(func() { together, stackFailed = ReadStack(ctx, s.db, month) })
	both.Wait()
	if err := cmp.Or(failed, stackFailed); err != nil {
		return ServiceLevels{}, err
	}
	// No other plan may use the API.
	out := ServiceLevels{
		Month: month.Format("2006-01"), Targets: targets[auth.EnterprisePlan], Operations: []OperationServiceLevels{},
		Generations: []GenerationServiceLevels{},
		Deliveries: DeliveryServiceLevels{Count: counted.Deliveries.Calls, Failed: counted.Deliveries.Failed,
			Success: available(counted.Deliveries)},
		Waiting: waiting(together),
		Probes: ServiceLevelProbes{
			Count: together.Probes.Calls, Failed: together.Probes.Failed, Availability: available(together.Probes),
			LatencyP95: percentile(together.Probes, 95),
		},
	}
	var all Counts
	for _, c := range counted.Operations {
		all.Add(c)
		out.Operations = append(out.Operations, OperationServiceLevels{c.Of, measured(c)})
	}
	for _, c := range counted.Generations {
		made, kind, _ := strings.Cut(c.Of, ".")
		out.Generations = append(out.Generations, GenerationServiceLevels{
			Resource: made, Kind: kind, Count: c.Calls, Failed: c.Failed, TimeP50: percentile(c, 50),
			TimeP95: percentile(c, 95), TimeP99: percentile(c, 99),
		})
	}
	out.All = measured(all)
	if all.Calls > 0 {
		met := *out.All.Availability >= out.Targets.Availability && *out.All.ErrorRate <= out.Targets.ErrorRate &&
			*out.All.LatencyP95 <= out.Targets.LatencyP95
		out.Met = &met
	}
	return out, nil
}

// waiting shows how long work waits.
func waiting(s Stack) WaitingServiceLevels {
	w := WaitingServiceLevels{Checks: s.Waiting.Calls, Late: s.Waiting.Failed}
	if w.Checks == 0 {
		return w
	}
	oldest := s.Oldest.Milliseconds()
	looked := resource.Instant(s.ReadAt)
	w.Oldest, w.CheckedAt, w.OldestP99 = &oldest, &looked, percentile(s.Waiting, 99)
	// Work that is not late has the time 0, which the histogram rounds up.
	if *w.OldestP99 == Bounds[0] {
		*w.OldestP99 = 0
	}
	return w
}

func measured(c Counts) ServiceLevelMeasured {
	m := ServiceLevelMeasured{Calls: c.Calls, Failed: c.Failed, Availability: available(c)}
	m.LatencyP50, m.LatencyP95, m.LatencyP99 = percentile(c, 50), percentile(c, 95), percentile(c, 99)
	if c.Calls > 0 {
		failed := percent(c.Failed, c.Calls)
		m.ErrorRate = &failed
	}
	return m
}

// available returns the part that did not fail, in percent, or nil if nothing was counted.
func available(c Counts) *float64 {
	if c.Calls == 0 {
		return nil
	}
	part := percent(c.Calls-c.Failed, c.Calls)
	return &part
}

// percentile returns a percentile of times, or nil if there are none.
func percentile(c Counts, p int64) *int64 {
	ms, ok := c.Percentile(p)
	if !ok {
		return nil
	}
	return &ms
}

// percent returns a part in percent with four digits, rounded down: a target of 99.9 is not met by 99.89999.
func percent(part, all int64) float64 {
	return math.Floor(float64(part)*1e6/float64(all)) / 1e4
}
