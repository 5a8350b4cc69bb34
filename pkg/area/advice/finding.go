package advice

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/statistics"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
)

var _ = format.Define("finding", format.Format{Values: format.Values(NoContent, NoRecentContent, BelowSchedule,
	IrregularCadence, LateItems, FailureRate, FailureCause, FailureByKind, EngagementByKind, EngagementByHour,
	EngagementByTopic, AccountDisconnected, PublicationFailures, UnusedAccount, CaptionTooLong, UnusedContentType,
	NoDescription, NoAudience, NoTopics, FewTopics, NoTone, NoSchedule),
	Fewest: 1, Many: 22, Distinct: true, List: []any{"publication_failures", "no_audience"}})

// Code is the kind of a finding.
type Code string

// The codes.
const (
	NoContent           Code = "no_content"
	NoRecentContent     Code = "no_recent_content"
	BelowSchedule       Code = "below_schedule"
	IrregularCadence    Code = "irregular_cadence"
	LateItems           Code = "late_items"
	FailureRate         Code = "failure_rate"
	FailureCause        Code = "failure_cause"
	FailureByKind       Code = "failure_by_kind"
	EngagementByKind    Code = "engagement_by_kind"
	EngagementByHour    Code = "engagement_by_hour"
	EngagementByTopic   Code = "engagement_by_topic"
	AccountDisconnected Code = "account_disconnected"
	PublicationFailures Code = "publication_failures"
	UnusedAccount       Code = "unused_account"
	CaptionTooLong      Code = "caption_too_long"
	UnusedContentType   Code = "unused_content_type"
	NoDescription       Code = "no_description"
	NoAudience          Code = "no_audience"
	NoTopics            Code = "no_topics"
	FewTopics           Code = "few_topics"
	NoTone              Code = "no_tone"
	NoSchedule          Code = "no_schedule"
)

// Severity is the importance of a finding.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Test is the statistical test that a finding rests on.
type Test string

// The tests.
const (
	Wilson        Test = "wilson_interval"
	TwoProportion Test = "two_proportion_z"
	MannWhitney   Test = "mann_whitney"
)

// Finding is one finding of a diagnosis.
type Finding struct {
	// Machine-readable kind of the finding.
	Code Code `json:"code" format:"finding"`
	// Severity of the finding. info is no fault, and takes nothing off the score.
	Severity Severity `json:"severity" enum:"info,warning,critical"`
	// What the finding is about, where its code has several: the failure code, kind of content, hour, topic, platform,
	// or social account. Null otherwise.
	Subject *string `json:"subject"`
	// Description of the finding.
	Message string `json:"message"`
	// Statistical test that it rests on. Null for what is counted.
	Test *Test `json:"test" enum:"wilson_interval,two_proportion_z,mann_whitney"`
	// Numbers that support the finding, by name.
	Evidence map[string]float64 `json:"evidence"`
}

// The points that findings take off the score. Several findings of one code, such as
// one for each unused account, take perCode at most.
var points = map[Severity]int{Critical: 25, Warning: 10}

const perCode = 25

// Score returns the score of a factory with these findings.
func Score(findings []Finding) int {
	taken := map[Code]int{}
	for _, f := range findings {
		taken[f.Code] = min(taken[f.Code]+points[f.Severity], perCode)
	}
	score := 100
	for _, n := range taken {
		score -= n
	}
	return max(score, 0)
}

// severities are in the order in which findings are shown.
var severities = []Severity{Critical, Warning, Info}

// sorted puts the most severe findings first, and keeps the order of findings of the same severity.
func sorted(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity))
	})
	return findings
}

// round keeps four decimals: more say nothing.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// percent is a share in whole percent.
func percent(share float64) int { return int(math.Round(share * 100)) }

// Window is the age of the oldest items that a diagnosis reads, and MaxItems the number of
// items that it reads at most: the newest.
const (
	Window   = 90 * 24 * time.Hour
	MaxItems = 1000
)

// The states of items that facts are about.
const (
	itemGenerated  = "generated"
	itemScheduled  = "scheduled"
	itemPublishing = "publishing"
	itemPublished  = "published"
	itemFailed     = "failed"
	itemCanceled   = "canceled"
)

// Facts are the data of a factory that a diagnosis uses.
type Facts struct {
	Now     time.Time
	Factory Factory
	// Items are the factory's newest, of the Window before Now.
	Items []Item
	// Posts are the published posts, with the figures that the platforms have reported.
	Posts []Post
}

// Factory are the settings of a factory.
type Factory struct {
	CreatedAt    time.Time
	Active       bool
	Description  string
	Audience     string
	Tone         string
	Topics       []string
	ContentTypes []string
	// Zone is the time zone of the schedule, and Times the number of its times a day, or 0 if there is no schedule.
	Zone     *time.Location
	Times    int
	Accounts []Account
}

// Account is a social account of a factory.
type Account struct {
	ID       string
	Platform string // empty: unknown
	Handle   string // empty: unknown
	// Lost reports that nothing can be published to it until its owner connects it again.
	Lost bool
}

// Item is a content item. Times that it has not reached are zero.
type Item struct {
	Kind      string
	State     string
	Failure   string // code; empty if it has not failed
	Caption   string
	Hashtags  []string
	Accounts  []string // ids of the social accounts that it goes to
	CreatedAt time.Time
	MadeAt    time.Time
	PublishAt time.Time
	// Publications are those that have ended.
	Publications []Publication
}

// Publication is the end of a publication.
type Publication struct {
	At      time.Time
	Failure string // code; empty if it was published
}

// made reports whether the item has its content.
func (i Item) made() bool {
	return slices.Contains([]string{itemGenerated, itemScheduled, itemPublishing, itemPublished}, i.State)
}

// Post is an item on a platform, with its figures.
type Post struct {
	Platform    string
	Kind        string
	Topics      []string // topics of the factory that the finding names
	PublishedAt time.Time
	Views       int
	Reactions   int // likes, comments, shares and saves
}

// Find returns the findings from the facts, the most severe first.
func Find(f Facts) []Finding {
	return sorted(slices.Concat(cadence(f), failures(f), publications(f), engagement(f),
		accounts(f), captions(f), settings(f)))
}

// made returns when items were made, oldest first.
func (f Facts) made() (times []time.Time) {
	for _, it := range f.Items {
		if it.made() && !it.MadeAt.IsZero() {
			times = append(times, it.MadeAt)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// found makes a finding. Pairs are names and numbers of the evidence.
func found(code Code, severity Severity, message string, pairs ...any) Finding {
	f := Finding{Code: code, Severity: severity, Message: message, Evidence: map[string]float64{}}
	for i := 0; i < len(pairs); i += 2 {
		switch n := pairs[i+1].(type) {
		case int:
			f.Evidence[pairs[i].(string)] = float64(n)
		case float64:
			f.Evidence[pairs[i].(string)] = round(n)
		}
	}
	return f
}

// about sets the subject of a finding, and the test that it rests on, if any.
func (f Finding) about(subject string, test Test) Finding {
	if subject != "" {
		f.Subject = &subject
	}
	if test != "" {
		f.Test = &test
	}
	return f
}

const (
	day = 24 * time.Hour
	// recent is the period that cadence is judged by, and grace the age that a factory must have for that.
	recent = 28 * day
	grace  = 7 * day
	// idle and asleep are how long nothing was made.
	idle   = 14 * day
	asleep = 30 * day
	// A factory is behind its schedule with less than enough of it, and far behind with less than half.
	enough = 0.8
	half   = 0.5
	// A gap of longGap between two of at least cadenceItems items is irregular.
	longGap      = 7 * day
	cadenceItems = 8
	// Of at least lateItems planned items, so many are too late.
	lateItems = 5
	someLate  = 0.1
	manyLate  = 0.3
)

// cadence compares the generated items with the schedule and with the planned times.
func cadence(f Facts) (all []Finding) {
	all = append(all, late(f)...)
	age := f.Now.Sub(f.Factory.CreatedAt)
	if !f.Factory.Active || age < grace {
		return all
	}
	made := f.made()
	if len(made) == 0 {
		return append(all, found(NoContent, Warning, "The factory has made nothing in the last 90 days.", "days",
			int(Window/day)))
	}
	if quiet := f.Now.Sub(made[len(made)-1]); quiet > idle {
		severity := Warning
		if quiet > asleep {
			severity = Critical
		}
		days := int(quiet / day)
		return append(all, found(NoRecentContent, severity, fmt.Sprintf("The factory has made nothing for %d days.",
			days), "days", days))
	}
	period := min(recent, age)
	from := f.Now.Add(-period)
	var inPeriod []time.Time
	for _, at := range made {
		if !at.Before(from) {
			inPeriod = append(inPeriod, at)
		}
	}
	days := int(period / day)
	if expected := f.Factory.Times * days; expected > 0 {
		if share := float64(len(inPeriod)) / float64(expected); share < enough {
			severity := Warning
			if share < half {
				severity = Critical
			}
			all = append(all, found(BelowSchedule, severity,
				fmt.Sprintf("The factory made %d items in %d days. Its schedule has room for %d.", len(inPeriod),
					days, expected),
				"made", len(inPeriod), "expected", expected, "days", days, "share", share))
		}
	}
	if gap := longest(inPeriod); len(inPeriod) >= cadenceItems && gap >= longGap {
		all = append(all, found(IrregularCadence, Warning,
			fmt.Sprintf("Nothing was made for %d days in a row, although the factory made %d items in %d days.",
				int(gap/day), len(inPeriod), days),
			"gap_days", int(gap/day), "made", len(inPeriod), "days", days))
	}
	return all
}

// longest is the longest time between two of the times, which are in order.
func longest(times []time.Time) (gap time.Duration) {
	for i := 1; i < len(times); i++ {
		gap = max(gap, times[i].Sub(times[i-1]))
	}
	return gap
}

// late finds planned items that were not ready at their time.
func late(f Facts) []Finding {
	planned, missed := 0, 0
	for _, it := range f.Items {
		if at := it.PublishAt; at.IsZero() || at.After(f.Now) || at.Before(f.Now.Add(-recent)) ||
			it.State == itemCanceled {
			continue
		}
		planned++
		if !it.made() || it.MadeAt.After(it.PublishAt) {
			missed++
		}
	}
	share := float64(missed) / float64(max(planned, 1))
	if planned < lateItems || share < someLate {
		return nil
	}
	severity := Warning
	if share >= manyLate {
		severity = Critical
	}
	return []Finding{found(LateItems, severity,
		fmt.Sprintf("%d of %d items that were planned for the last 28 days were not ready at their time (%d%%).",
			missed, planned, percent(share)),
		"late", missed, "planned", planned, "share", share)}
}

const (
	// Posts with fewer views say nothing about engagement.
	minViews = 100
	// A group of posts is compared if it and the others have at least minPosts.
	minPosts = 10
)

// engagement finds the kinds, hours and topics whose posts get more or fewer reactions for each view than the others.
// Platforms differ in that, so that each post is compared with the median of its platform.
func engagement(f Facts) (all []Finding) {
	zone := f.Factory.Zone
	if zone == nil {
		zone = time.UTC
	}
	posts, rates := relative(f.Posts)
	for _, by := range []struct {
		code   Code
		what   string
		groups func(Post) []string
	}{
		{EngagementByKind, "of the kind %s", func(p Post) []string { return []string{p.Kind} }},
		{EngagementByHour, "published at %s o'clock",
			func(p Post) []string { return []string{fmt.Sprintf("%02d", p.PublishedAt.In(zone).Hour())} }},
		{EngagementByTopic, "about %q", func(p Post) []string { return p.Topics }},
	} {
		all = append(all, compare(by.code, by.what, posts, rates, by.groups)...)
	}
	return all
}

// relative returns the posts that count, and the engagement rate of each in relation to the median of its platform.
func relative(all []Post) (posts []Post, rates []float64) {
	var platforms []string
	for _, p := range all {
		if p.Views >= minViews {
			posts, rates, platforms = append(posts, p), append(rates, rate(p)), append(platforms, p.Platform)
		}
	}
	rates = statistics.Relative(rates, platforms)
	for i := len(posts) - 1; i >= 0; i-- {
		if math.IsNaN(rates[i]) { // half of the posts have no reactions
			posts, rates = slices.Delete(posts, i, i+1), slices.Delete(rates, i, i+1)
		}
	}
	return posts, rates
}

func rate(p Post) float64 { return float64(p.Reactions) / float64(p.Views) }

// compare tests each group against all other posts.
func compare(code Code, what string, posts []Post, rates []float64, groups func(Post) []string) (all []Finding) {
	in := map[string][]int{}
	for i, p := range posts {
		for _, name := range groups(p) {
			in[name] = append(in[name], i)
		}
	}
	maps.DeleteFunc(in, func(_ string, of []int) bool { return len(of) < minPosts || len(posts)-len(of) < minPosts })
	for _, name := range slices.Sorted(maps.Keys(in)) {
		var group, others []float64
		for i, r := range rates {
			if slices.Contains(in[name], i) {
				group = append(group, r)
			} else {
				others = append(others, r)
			}
		}
		superiority, p := statistics.MannWhitney(group, others)
		if p >= statistics.Significance/float64(len(in)) {
			continue
		}
		more := "more"
		if superiority < 0.5 {
			more = "less"
		}
		all = append(all, found(code, Info,
			fmt.Sprintf("Posts "+what+" get %s engagement than others: one of them beats one of the others in %d%% "+
				"of all pairs.", name, more, percent(superiority)),
			"posts", len(group), "others", len(others), "superiority", superiority, "p", p).about(name, MannWhitney))
	}
	return all
}

const (
	// A share is judged if at least minEnded items have ended.
	minEnded = 10
	// The failure rate is a fault if it is above the limit even at the lower end of its 95% interval.
	someFail = 0.05
	manyFail = 0.2
	// A cause is named if at least minCause items have it.
	minCause = 3
)

// failures finds how often items fail, and why.
func failures(f Facts) (all []Finding) {
	ended, failed := 0, 0
	causes := map[string]int{}
	kinds := map[string]*[2]int{} // failed and ended
	for _, it := range f.Items {
		if it.State != itemFailed && !it.made() {
			continue
		}
		ended++
		if kinds[it.Kind] == nil {
			kinds[it.Kind] = &[2]int{}
		}
		kinds[it.Kind][1]++
		if it.State == itemFailed {
			failed++
			kinds[it.Kind][0]++
			causes[it.Failure]++
		}
	}
	if ended >= minEnded {
		share, least := float64(failed)/float64(ended), statistics.WilsonLower(failed, ended)
		if least > someFail {
			severity := Warning
			if least > manyFail {
				severity = Critical
			}
			all = append(all, found(FailureRate, severity,
				fmt.Sprintf("%d of %d items of the last 90 days failed (%d%%).", failed, ended, percent(share)),
				"failed", failed, "ended", ended, "share", share, "share_at_least", least).about("", Wilson))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(causes)) {
		if n := causes[code]; n >= minCause {
			all = append(all, found(FailureCause, Info, fmt.Sprintf("%d of %d failed items failed with %s.", n,
				failed, code),
				"failed", n, "failed_in_all", failed, "share", float64(n)/float64(failed)).about(code, ""))
		}
	}
	return append(all, byKind(kinds, failed, ended)...)
}

// byKind finds the kinds that fail more often than the others together.
func byKind(kinds map[string]*[2]int, failed, ended int) (all []Finding) {
	compared := 0
	for _, k := range kinds {
		if k[1] >= minEnded && ended-k[1] >= minEnded {
			compared++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[kind]
		others := ended - k[1]
		if k[1] < minEnded || others < minEnded {
			continue
		}
		z, p := statistics.TwoProportions(k[0], k[1], failed-k[0], others)
		if z <= 0 || p >= statistics.Significance/float64(compared) {
			continue
		}
		all = append(all, found(FailureByKind, Warning,
			fmt.Sprintf("Items of the kind %s fail more often than others: %d of %d, against %d of %d.", kind, k[0],
				k[1], failed-k[0], others),
			"failed", k[0], "ended", k[1], "others_failed", failed-k[0], "others_ended", others, "z", z, "p",
			p).about(kind, TwoProportion))
	}
	return all
}

const (
	// lately is the age of the oldest publications that count.
	lately = 30 * day
	// Failed publications are critical from this number and share on.
	manyUnpublished  = 2
	largeUnpublished = 0.2
)

// publications finds the publications that failed and were not repeated.
func publications(f Facts) []Finding {
	ended, failed := 0, 0
	causes := map[string]int{}
	for _, it := range f.Items {
		for _, p := range it.Publications {
			if p.At.Before(f.Now.Add(-lately)) {
				continue
			}
			if ended++; p.Failure != "" {
				failed++
				causes[p.Failure]++
			}
		}
	}
	if failed == 0 {
		return nil
	}
	share, severity := float64(failed)/float64(ended), Warning
	if failed >= manyUnpublished && share >= largeUnpublished {
		severity = Critical
	}
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(causes)) {
		codes = append(codes, fmt.Sprintf("%s (%d)", code, causes[code]))
	}
	return []Finding{found(PublicationFailures, severity, fmt.Sprintf("%d of %d publications of the last 30 days "+
		"failed: %s. Publish the items again once the cause is gone.", failed, ended, strings.Join(codes, ", ")),
		"failed", failed, "ended", ended, "share", share)}
}

const (
	// fewTopics is the number of topics below which content repeats itself.
	fewTopics = 3
	// A content type is unused if none of this number of items is of it.
	unusedItems = 20
	// accountUnused is the time after which a social account counts as unused.
	accountUnused = 30 * day
)

// settings finds missing settings of the factory.
func settings(f Facts) (all []Finding) {
	missing := func(code Code, severity Severity, is bool, message string) {
		if is {
			all = append(all, found(code, severity, message))
		}
	}
	s := f.Factory
	missing(NoDescription, Warning, s.Description == "", "The factory has no description, so that its content has no "+
		"subject beyond each prompt.")
	missing(NoAudience, Warning, s.Audience == "", "The factory has no audience, so that its texts address no one in "+
		"particular.")
	missing(NoTopics, Warning, len(s.Topics) == 0, "The factory has no topics.")
	missing(NoTone, Info, s.Tone == "", "The factory has no tone.")
	missing(NoSchedule, Info, s.Times == 0, "The factory has no schedule.")
	if n := len(s.Topics); n > 0 && n < fewTopics {
		all = append(all, found(FewTopics, Info, fmt.Sprintf("The factory has %d of at least %d topics. With few "+
			"topics, content repeats itself.", n, fewTopics), "topics", n, "at_least", fewTopics))
	}
	if len(f.Items) < unusedItems {
		return all
	}
	for _, kind := range s.ContentTypes {
		if !slices.ContainsFunc(f.Items, func(it Item) bool { return it.Kind == factoryrecord.KindOf(kind) }) {
			all = append(all, found(UnusedContentType, Info, fmt.Sprintf("The content types of the factory include "+
				"%s, but none of its last %d items is of that kind.", kind, len(f.Items)), "items",
				len(f.Items)).about(kind, ""))
		}
	}
	return all
}

// accounts finds social accounts that nothing can be published to, or that no item goes to.
func accounts(f Facts) (all []Finding) {
	from := f.Now.Add(-accountUnused)
	items := 0
	used := map[string]bool{}
	for _, it := range f.Items {
		if it.CreatedAt.Before(from) {
			continue
		}
		items++
		for _, account := range it.Accounts {
			used[account] = true
		}
	}
	for _, a := range f.Factory.Accounts {
		if a.Lost {
			all = append(all, found(AccountDisconnected, Critical, fmt.Sprintf("The social account %s on %s is not "+
				"connected. Nothing is published to it until its owner connects it again.", cmp.Or(a.Handle, a.ID),
				a.Platform)).about(a.ID, ""))
		}
		if items > 0 && !used[a.ID] {
			all = append(all, found(UnusedAccount, Warning, fmt.Sprintf("None of the %d items of the last 30 days "+
				"goes to the social account %s.", items, a.ID), "items", items, "days",
				int(accountUnused/day)).about(a.ID, ""))
		}
	}
	return all
}

// captions finds captions that are longer than a platform publishes. That is a fault only
// if the factory publishes there. A platform that not every customer has matters only then.
func captions(f Facts) (all []Finding) {
	for _, p := range registry.Rows() {
		used := slices.ContainsFunc(f.Factory.Accounts, func(a Account) bool { return a.Platform == p.Name })
		if p.Optional && !used {
			continue
		}
		limit := p.Capabilities.Kinds[platform.KindVideo].Caption
		n, over, most := 0, 0, 0
		for _, it := range f.Items {
			if it.Caption == "" || !it.made() {
				continue
			}
			n++
			length := limit.Unit.Length(posted(it))
			most = max(most, length)
			if length > limit.Max {
				over++
			}
		}
		if over == 0 {
			continue
		}
		severity := Info
		if used {
			severity = Warning
		}
		all = append(all, found(CaptionTooLong, severity,
			fmt.Sprintf("%d of %d captions are longer with their hashtags than %s permits. "+
				"The longest has %d of %d %s.", over, n, p.Name, most, limit.Max,
				strings.ReplaceAll(string(cmp.Or(limit.Unit, platform.Runes)), "_", " ")),
			"too_long", over, "captions", n, "longest", most, "limit", limit.Max).about(p.Name, ""))
	}
	return all
}

// posted is the caption with its hashtags, as it is published.
func posted(it Item) string {
	if len(it.Hashtags) == 0 {
		return it.Caption
	}
	return it.Caption + "\n\n#" + strings.Join(it.Hashtags, " #")
}
