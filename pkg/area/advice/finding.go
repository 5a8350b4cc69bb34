package advice

import (
	"cmp"
	"math"
	"slices"

	"github.com/content-automation/api/pkg/base/format"
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
