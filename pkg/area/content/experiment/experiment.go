// Package experiment compares the posts of a factory that differ by chance alone: it gives new items their arms, reads
// the figures of their posts, and says which arm does better only if that is no chance. Start with Record in
// experiment.go; operations.go has the operations.
package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/statistics"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var (
	_ = format.Define("arm", format.Format{Fewest: 2, Many: 4, Distinct: true})
	_ = format.Define("factor", format.Format{
		Values: format.Words("hook length format slot pillar picture_style caption_style first_frame")})
	_ = format.Define("experiment-metric", format.Format{
		Values: format.Words("likes comments shares saves clicks views reach impressions engagement")})
	_ = format.Define("experiment-design", format.Format{Values: []string{AlwaysValid, PlannedLooks},
		Example: AlwaysValid})
	_ = format.Define("question", format.Format{Name: format.NotBlank, Pattern: format.OneLine, Shortest: 1,
		Longest: 500, Example: "Do questions in the first line bring more likes?"})
)

// ItemKind is the kind of an experiment in the table.
const ItemKind = "experiment"

// State is the state of an experiment.
type State string

// The states. The last three are final.
const (
	Draft        State = "draft"
	Running      State = "running"
	Decided      State = "decided"
	Inconclusive State = "inconclusive"
	Stopped      State = "stopped"
)

// The factors of an experiment.
const (
	FactorHook         = "hook"
	FactorLength       = "length"
	FactorFormat       = "format"
	FactorSlot         = "slot"
	FactorPillar       = "pillar"
	FactorPictureStyle = "picture_style"
	FactorCaptionStyle = "caption_style"
	FactorFirstFrame   = "first_frame"
)

// armsOf are the arms that a factor may have, where they are not free.
var armsOf = map[string][]string{
	FactorHook:         {"claim", "contradiction", "number", "question", "scene"},
	FactorFormat:       {"carousel", "post", "short_video"},
	FactorCaptionStyle: {"words", "lines", "outline"},
	FactorFirstFrame:   {"picture", "headline"},
}

// Arms returns the arms that each factor may have whose arms are neither free nor numbers or times.
func Arms() map[string][]string { return armsOf }

// Factor is what differs between the posts of an experiment.
type Factor struct {
	// What differs. hook: how the text begins. length: seconds of a video. format: what a content plan makes of a
	// topic. slot: the time of day at which a post is published, in the time zone of the factory. pillar: the subject.
	// picture_style: how pictures look. caption_style: captions of videos. first_frame: whether the picture of a post
	// has words on it.
	Name string `json:"name" format:"factor" example:"hook"`
	// Values that are compared; the first is the one that the others must beat. Of hook: claim, contradiction, number,
	// question, scene. Of length: seconds, such as 20. Of format: post, carousel, short_video. Of slot: times, such as
	// 18:30. Of caption_style: words, lines, outline. Of first_frame: picture, headline. Others are your own words.
	Arms []string `json:"arms" format:"arm" nullable:"false" example:"[\"claim\",\"question\"]"`
}

// check refuses arms that the factor does not have. At is the place of the factor in the body.
func (f Factor) check(at string) error {
	for i, arm := range f.Arms {
		place := at + "/arms/" + strconv.Itoa(i)
		switch known := armsOf[f.Name]; {
		case known != nil && !slices.Contains(known, arm):
			return errs.Invalid(place, "%s, by the factor %s", text.NotOneOf(arm, known), f.Name)
		case f.Name == FactorLength:
			if n, err := strconv.Atoi(arm); err != nil || n < 10 || n > 180 {
				return errs.Invalid(place, "must be a number of seconds from 10 to 180, such as 20")
			}
		case f.Name == FactorSlot:
			if _, err := clock.Parse(arm); err != nil {
				return errs.Invalid(place, "is not a time of day; write it as 18:30")
			}
		case strings.TrimSpace(arm) == "" || len(arm) > 200:
			return errs.Invalid(place, "must have 1 to 200 characters")
		}
	}
	return nil
}

// Metric is the figure by which arms are compared.
type Metric struct {
	// Figure of a post, as its publications show it. Where the platform counts impressions, the figure is divided by
	// them.
	Name string `json:"name" format:"experiment-metric" example:"likes"`
	// Platform whose posts count.
	Platform string `json:"platform" example:"instagram"`
	// Age of a post at which its figure is read, in hours: 24, 72 or 168.
	AfterHours int `json:"after_hours,omitempty" minimum:"24" maximum:"168" default:"24" example:"24"`
}

// Budget bounds an experiment.
type Budget struct {
	// Most posts.
	Posts int `json:"posts" minimum:"20" maximum:"1000" example:"120"`
	// Most credits of its items together. Null: any.
	Credits *int64 `json:"credits,omitempty" minimum:"1"`
	// Most days after its start.
	Days int `json:"days" minimum:"1" maximum:"180" example:"60"`
}

// Stopping is the rule by which an experiment ends before its budget does.
type Stopping struct {
	// Greatest probability of a claim that is only chance, however often one looks.
	Alpha float64 `json:"alpha,omitempty" minimum:"0.001" maximum:"0.2" default:"0.05"`
	// Least effect that matters: how much more often than by chance a post of an arm does better than one of the first
	// arm. Once all intervals are within it, the experiment ends as inconclusive.
	MinEffect float64 `json:"min_effect,omitempty" minimum:"0.01" maximum:"0.4" default:"0.05"`
	// How the result is tested. always_valid: it may be looked at after each post, and ends as soon as there is a
	// winner. planned_looks: there are five looks, after each fifth of the posts of the budget, and all arms are given
	// equally often. This needs fewer posts: use it if you have fewer than about 300.
	Design string `json:"design,omitempty" format:"experiment-design" default:"always_valid"`
}

// The designs of tests.
const (
	AlwaysValid  = "always_valid"
	PlannedLooks = "planned_looks"
)

// Result is what is known of an arm.
type Result struct {
	// Name of the factor.
	Factor string `json:"factor" example:"hook"`
	// The arm.
	Arm string `json:"arm" example:"question"`
	// Posts with the arm.
	Assigned int `json:"assigned"`
	// Posts of them whose figure is known.
	N int `json:"n"`
	// Posts of them that a person or a check has rejected: the item was not approved, canceled, deleted, or never
	// published. They count as the lowest figure. An arm wins only if it does better both with them and without them.
	Rejected int `json:"rejected"`
	// Probability that a post of the arm does better than one of the first arm, less one half: 0 is no difference, 0.1
	// is 60 of 100. Null for the first arm, and as long as one of the two has no figure.
	Estimate *float64 `json:"estimate" minimum:"-0.5" maximum:"0.5"`
	// Lower end of its interval. The interval holds at all looks together, at the level alpha shared by all
	// comparisons.
	Lower *float64 `json:"lower"`
	// Upper end of its interval.
	Upper *float64 `json:"upper"`
	// Median of the figure of its posts. Null without any.
	Median *float64 `json:"median"`
}

// Winner is an arm that does better than the first arm of its factor, or the first one, if all others do worse.
type Winner struct {
	// Name of the factor.
	Factor string `json:"factor" example:"hook"`
	// The arm.
	Arm string `json:"arm" example:"question"`
}

// Experiment compares posts that differ by chance alone.
type Experiment struct {
	resource.Resource
	// Profile of its factory. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Factory whose posts are compared.
	FactoryID string `json:"factory_id" filter:"factory"`
	// What it is to answer, in words.
	Question string `json:"question" example:"Do questions in the first line bring more likes?"`
	// What differs.
	Factors []Factor `json:"factors" nullable:"false"`
	// Figure by which arms are compared.
	Metric Metric `json:"metric"`
	// Its bounds.
	Budget Budget `json:"budget"`
	// When it ends before.
	Stopping Stopping `json:"stopping"`
	// Whether its proposal is applied by itself as soon as it is decided, on behalf of the key or person that has
	// created it and needs factories:write then, too.
	AutoApply bool `json:"auto_apply"`
	// State. draft: it has not begun. running: items get arms. decided: there is a winner. inconclusive: the budget is
	// used up, or no arm differs by min_effect. stopped: you have ended it. The last three are final.
	State State `json:"state" filter:"state" enum:"draft,running,decided,inconclusive,stopped"`
	// Time of its start. Null until then.
	StartedAt *resource.Time `json:"started_at"`
	// Time of its end. Null until then.
	EndedAt *resource.Time `json:"ended_at"`
	// Items that have arms.
	Posts int `json:"posts"`
	// Credits of these items.
	SpentCredits int64 `json:"used_credits"`
	// Posts of a budget with which four of five experiments of this design, with these arms, find that one of them does
	// better by min_effect.
	NeededPosts int `json:"needed_posts"`
	// What is known of each arm.
	Results []Result `json:"results" nullable:"false"`
	// Arms that do better. Empty unless decided.
	Winners []Winner `json:"winners" nullable:"false"`
	// Proposal that was made of it. Null until then.
	ProposalID *string `json:"proposal_id"`
}

// Record is the stored document of an experiment.
type Record struct {
	Experiment
	// Authority is on whose behalf the result is applied by itself: who has created the experiment with auto_apply.
	Authority authority.Authority `json:"authority,omitzero"`
	// Seed is the source of chance of the assignment.
	Seed string `json:"seed"`
	// Zone is the time zone of the factory when the experiment began.
	Zone string `json:"zone,omitempty"`
	// Models are what assignments rest on: the scores of arms at a look, from a number of posts on.
	Models []Model `json:"models,omitempty"`
	// PostCounts are the numbers of posts by factor, arm and stratum.
	PostCounts map[string]int `json:"given,omitempty"`
	// Deleted are the items that were deleted.
	Deleted []Deleted `json:"deleted,omitempty"`
}

// Model has the scores of the arms that assignments use after a number of posts.
type Model struct {
	After int                         `json:"after"`
	Arms  map[string][]statistics.Arm `json:"arms"`
}

// Look has the results at a time.
type Look struct {
	// Time of the look.
	At resource.Time `json:"at"`
	// Results at that time.
	Results []Result `json:"results" nullable:"false"`
}

// Decode reads the record of an item.
func Decode(it *store.Item) (*Record, error) {
	var r Record
	return &r, it.Decode(&r)
}

// Into writes the record into its item.
func (r *Record) Into(it store.Item) (store.Item, error) { return it, it.Encode(r) }

// place has an experiment of the sandbox end.
func place(it *store.Item, r *Record) {
	if it.Owner.Mode == tenant.Test {
		it.ExpireAt = r.CreatedAt.Add(generate.SandboxLife)
	}
}

// exploration is the part of the posts that is shared equally among all arms.
const exploration = 0.1

// Takes reports whether items may get arms at a time.
func (r *Record) Takes(now time.Time) bool {
	return r.State == Running && r.Posts < r.Budget.Posts && now.Before(r.ends()) &&
		(r.Budget.Credits == nil || r.SpentCredits < *r.Budget.Credits)
}

// ends returns the end of a running experiment.
func (r *Record) ends() time.Time { return r.StartedAt.AddDate(0, 0, r.Budget.Days) }

// Place returns the time zone of the factory when the experiment began.
func (r *Record) Place() *time.Location {
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// At returns a time of day, such as 18:30, of the day of a time in a zone.
func At(day time.Time, text string, zone *time.Location) time.Time {
	at, _ := clock.Parse(text) // check has read it
	return clock.On(day.In(zone), at)
}

// Stratum names the posts among which arms are balanced: those of a quarter of a weekday, in the zone of the factory.
func (r *Record) Stratum(at time.Time) string {
	at = at.In(r.Place())
	return fmt.Sprintf("%d-%d", at.Weekday(), at.Hour()/6)
}

// Draw gives the next item its arms, of the factors that apply to it. It is a function of the seed, the earlier draws
// and the models of the record alone, so that the record proves the assignment.
func (r *Record) Draw(stratum string, applies func(Factor) bool) *item.Trial {
	r.Posts++
	t := &item.Trial{ID: r.ID, Number: r.Posts, Arms: []item.TrialArm{}}
	for _, f := range r.Factors {
		if !applies(f) {
			continue
		}
		p := r.propensities(f, stratum)
		i, rest := 0, r.chance(f.Name)
		for i < len(p)-1 && rest >= p[i] {
			rest -= p[i]
			i++
		}
		if r.PostCounts == nil {
			r.PostCounts = map[string]int{}
		}
		r.PostCounts[given(f.Name, f.Arms[i], stratum)]++
		t.Arms = append(t.Arms, item.TrialArm{Factor: f.Name, Arm: f.Arms[i], Propensity: p[i], All: p})
	}
	if len(t.Arms) == 0 {
		r.Posts--
		return nil
	}
	return t
}

// given is the key of Record.CallerTexts.
func given(factor, arm, stratum string) string { return factor + "\x00" + arm + "\x00" + stratum }

// propensities returns the probabilities of the arms of a factor. They are equal up to half of the budget, so that a
// result needs fewer posts, and those of Thompson sampling from then on; both are moved towards arms that posts of the
// stratum have had less often than that.
func (r *Record) propensities(f Factor, stratum string) []float64 {
	arms := make([]statistics.Arm, len(f.Arms))
	if len(r.Models) > 0 && 2*r.Posts > r.Budget.Posts && r.Stopping.Design != PlannedLooks {
		copy(arms, r.Models[len(r.Models)-1].Arms[f.Name])
	}
	p := statistics.Propensities(arms)
	counts, all := make([]float64, len(p)), 0.0
	for i, arm := range f.Arms {
		counts[i] = float64(r.PostCounts[given(f.Name, arm, stratum)])
		all += counts[i]
	}
	for i := range p {
		p[i] *= math.Exp((p[i]*all - counts[i]) / 2)
	}
	return statistics.Floored(p, exploration) // last, so that it holds after the balance
}

// chance returns a number in [0, 1) for the draw of a factor for the latest item.
func (r *Record) chance(factor string) float64 {
	sum := sha256.Sum256([]byte(r.Seed + "\x00" + factor + "\x00" + strconv.Itoa(r.Posts)))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// Levels are the levels for which it was simulated how many posts an effect needs.
var Levels = []float64{0.2, 0.05, 0.01, 0.001}

// needs has the posts that an effect needs, times its square, by design, number of arms from 2 to 4, and level: so many
// that four of five experiments of that budget find it. The command infra/verify/tables learning -needs simulates them.
var needs = map[string][3][4]float64{
	AlwaysValid:  {{6.0, 8.6, 12.0, 15.8}, {11.3, 16.2, 20.7, 24.2}, {17.6, 22.1, 27.0, 31.2}},
	PlannedLooks: {{2.0, 2.9, 4.3, 6.9}, {3.7, 5.3, 7.6, 10.6}, {5.8, 7.9, 10.9, 14.1}},
}

// Needed returns the posts of NeededPosts for factors. Levels between two of the table are interpolated by their
// logarithm, which the posts follow.
func Needed(s Stopping, factors []Factor) int {
	comparisons, most := 0, 0
	for _, f := range factors {
		comparisons += len(f.Arms) - 1
		most = max(most, len(f.Arms))
	}
	alpha := s.Alpha * float64(most-1) / float64(comparisons)
	row, i := needs[s.Design][most-2], 1
	for i < len(Levels)-1 && alpha < Levels[i] {
		i++
	}
	at := math.Log(alpha/Levels[i-1]) / math.Log(Levels[i]/Levels[i-1])
	return int(math.Ceil((row[i-1] + at*(row[i]-row[i-1])) / (s.MinEffect * s.MinEffect)))
}

// checkMetric refuses a figure that the platform does not have.
func checkMetric(m Metric) error {
	if m.AfterHours != 0 && !slices.Contains([]int{24, 72, 168}, m.AfterHours) {
		return errs.Invalid("/metric/after_hours", "%s", text.NotOneOf("", []string{"24", "72", "168"}))
	}
	row, ok := registry.Find(m.Platform)
	if !ok {
		return errs.Invalid("/metric/platform", "%s", text.NotOneOf(m.Platform, registry.Names()))
	}
	have := row.Capabilities.Metrics
	if m.Name == item.Engagement && !slices.Contains(have, "views") && !slices.Contains(have, "impressions") &&
		!slices.Contains(have, "reach") || m.Name != item.Engagement && !slices.Contains(have, m.Name) {
		return errs.Invalid("/metric/name", "%s, by the platform %s", text.NotOneOf(m.Name, have),
			row.Capabilities.Label)
	}
	return nil
}

// Adopt adds an experiment of an export to the transaction. It is stopped, without results: its posts are elsewhere.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, e Experiment) error {
	at := resource.Instant(now)
	e.ProfileID, e.State, e.EndedAt = o.ProfileID(), Stopped, &at
	for i, f := range e.Factors {
		if err := f.check("/factors/" + strconv.Itoa(i)); err != nil {
			return err
		}
	}
	r := &Record{Experiment: e, Authority: authority.Authority{}, Seed: e.ID}
	it, err := experiments.Item(o, r)
	if err != nil {
		return err
	}
	if o.Mode == tenant.Test {
		it.ExpireAt = now.Add(generate.SandboxLife)
	}
	tx.Create(it, nil)
	return nil
}

// Input is the type of the body of the operation that creates an experiment. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

// Hooks say how texts begin, for the tone of a factory.
var Hooks = map[string]string{"claim": "begins with a concrete claim", "contradiction": "begins with a contradiction",
	"number": "begins with a number", "question": "begins with a question", "scene": "begins with a scene"}

// Settable reports whether the arms of a factor are settings of a factory.
func Settable(factor string) bool {
	return !slices.Contains([]string{FactorLength, FactorFormat, FactorPictureStyle}, factor)
}

// Has reports whether a factory has a winner among its settings.
func Has(f factory.Factory, w Winner) bool {
	switch w.Factor {
	case FactorHook:
		return Hooks[w.Arm] != "" && strings.Contains(string(f.Tone), Hooks[w.Arm])
	case FactorPillar:
		return len(f.Topics) > 0 && string(f.Topics[0]) == w.Arm
	case FactorSlot:
		return f.Schedule != nil && slices.Contains(f.Schedule.Times, w.Arm)
	case FactorCaptionStyle, FactorFirstFrame:
		var settings struct {
			CaptionStyle string `json:"caption_style"`
			Headlines    *bool  `json:"post_headlines"`
		}
		if raw, err := f.Settings.MarshalJSON(); err != nil || json.Unmarshal(raw, &settings) != nil {
			return false
		}
		if w.Factor == FactorCaptionStyle {
			return settings.CaptionStyle == w.Arm
		}
		return settings.Headlines != nil && *settings.Headlines == (w.Arm == "headline")
	}
	return false
}

// Arms returns the arms of a factor of the experiment.
func (e *Experiment) Arms(factor string) []string {
	for _, f := range e.Factors {
		if f.Name == factor {
			return slices.Clone(f.Arms)
		}
	}
	return nil
}

// Check refuses an experiment that is nil or of another factory. The param names the member with its id.
func Check(param, experimentID string, r *Record, factoryID string) error {
	switch {
	case r == nil:
		return errs.MissingAt(param, ItemKind, experimentID)
	case r.FactoryID != factoryID:
		return errs.Invalid(param, "is the id of an experiment of another factory than %s. Use one of that "+
			"factory", factoryID)
	}
	return nil
}

// DecidedOf returns the latest decided experiments of a factory, the last one first. Most bounds their number.
func DecidedOf(ctx context.Context, db *store.DB, o tenant.Owner, factoryID string, most int) (all []*Record,
	err error) {
	page, err := db.List(ctx, store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, ItemKind),
		Limit: most, Filters: map[string]string{"factory": factoryID, "state": string(Decided)}})
	if err != nil {
		return nil, err
	}
	for _, it := range page.Items {
		r, err := Decode(&it)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
