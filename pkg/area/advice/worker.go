package advice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/ask"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Worker makes diagnoses.
type Worker struct {
	DB        *store.DB
	Providers ask.Models
	// Offer is the part of the catalog that the stack offers.
	Offer catalog.Offer
	Now   func() time.Time
}

const (
	// maxAsked is the number of times that a text model is asked for proposals that fit.
	maxAsked = 3
	// maxFailures is the number of times in a row that it may fail to answer.
	maxFailures = 4
)

// analysis is what the figures of a factory show.
type analysis struct {
	Findings []Finding `json:"findings,omitempty"`
	// Best and Worst are the texts with the best and the worst figures.
	Best  []item.Performance `json:"best,omitempty"`
	Worst []item.Performance `json:"worst,omitempty"`
}

// outcome is what the answers of a model have told: the proposals that fit, and those of the last answer that do not.
type outcome struct {
	Drafts        []draft         `json:"drafts,omitempty"`
	RefusedDrafts []rejectedDraft `json:"refused,omitempty"`
}

// subject holds the diagnosis and the factory of a step.
type subject struct {
	item    store.Item
	record  *DiagnosisRecord
	factory factory.Factory
}

// read reads the diagnosis of a task and its factory. It returns nil if nothing waits for
// the task any more: the factory was deleted, or the sandbox was reset.
func (w *Worker) read(ctx context.Context, r *task.Run, factoryID string) (*subject, error) {
	items, err := w.DB.GetAll(ctx, factoryrecord.Key(factoryID), Key(factoryID))
	if err != nil || !factoryrecord.Usable(items[0], r.Owner) || items[1].Kind == "" {
		return nil, err
	}
	d, err := DiagnosisDecode(&items[1])
	if err != nil {
		return nil, err
	}
	if d.ID != r.Subject || !d.Runs() {
		return nil, nil
	}
	f, err := factory.Decode(&items[0])
	return &subject{items[1], d, f}, err
}

// Diagnose analyzes the figures of a factory, and then asks a model for proposals, unless there is nothing to improve.
// A diagnosis whose analysis has failed fails. Without proposals it is complete, too.
func (w *Worker) Diagnose(ctx context.Context, r *task.Run) error {
	var p Work
	if err := r.Decode(&p); err != nil {
		return err
	}
	on, err := w.read(ctx, r, p.FactoryID)
	if err != nil || on == nil {
		return err
	}
	var found *analysis
	if err := r.Recall("analysis", &found); err != nil {
		return err
	}
	if found == nil && r.Cause() == nil {
		if found, err = w.analyze(ctx, r.Owner, on); err != nil {
			return err
		}
		if err := r.Keep("analysis", found); err != nil {
			return err
		}
		if len(found.Findings) > 0 {
			r.Also(w.change(r, p.FactoryID, func(_ *store.Tx, on *subject) error {
				on.record.State = Running
				return nil
			}))
			return r.Sleep(0)
		}
	}
	if found == nil {
		return r.End(w.change(r, p.FactoryID, func(_ *store.Tx, on *subject) error {
			on.record.State, on.record.Failure = Failed, failed(r.Cause(), on.record.Sandbox)
			return nil
		}))
	}
	var answer outcome
	if len(found.Findings) > 0 {
		answer, err = ask.Talk[outcome]{Models: w.Providers, Name: "proposals", Questions: maxAsked,
			Failures: maxFailures,
			NextQuestion: func(_ context.Context, known outcome) (ask.Question, error) {
				return w.question(r.Mode, on, found, known)
			},
			Take: func(known *outcome, answer json.RawMessage) (bool, error) {
				known.Drafts, known.RefusedDrafts = judge(on.factory, known.Drafts, answer, w.Now())
				return len(known.RefusedDrafts) == 0, nil
			}}.In(ctx, r)
		if task.Waits(err) {
			return err
		}
	}
	return r.End(w.change(r, p.FactoryID, func(tx *store.Tx, on *subject) error {
		return w.complete(tx, r.Owner, on, found, answer, err)
	}))
}

// analyze finds possible improvements.
func (w *Worker) analyze(ctx context.Context, o tenant.Owner, on *subject) (*analysis, error) {
	if r := on.record.Sandbox; r != nil && r.Outcome == OutcomeFailed {
		return nil, task.Permanent(errRehearsed)
	} else if r != nil && len(r.Findings) > 0 {
		return &analysis{Findings: Rehearsed(r.Findings)}, nil
	}
	facts, made, err := w.facts(ctx, o, on.factory)
	if err != nil {
		return nil, err
	}
	best, worst := item.Extremes(made, extremes)
	return &analysis{Find(facts), best, worst}, nil
}

// errRehearsed ends a diagnosis whose sandbox instructions ask for a failure.
var errRehearsed = errors.New("diagnose: the rehearsed failure")

// complete stores the findings, with the proposals that still fit the factory, and their events. The error is that of
// the questions to the model.
func (w *Worker) complete(tx *store.Tx, o tenant.Owner, on *subject, found *analysis, answer outcome,
	asked error) error {
	r, score := on.record, Score(found.Findings)
	r.State, r.Score, r.Findings = Completed, &score, append([]Finding{}, found.Findings...)
	for n, d := range answer.Drafts {
		if len(d.fits(on.factory, w.Now())) > 0 {
			continue // the factory has changed since
		}
		made, err := w.proposal(r, on.factory, n, d)
		if err != nil {
			return err
		}
		it, err := made.Entry(o)
		if err != nil {
			return err
		}
		tx.Create(it, nil)
		if err := made.Notify(tx, o, event.ProposalCreated); err != nil {
			return err
		}
		r.ProposalIDs = append(r.ProposalIDs, made.ID)
	}
	switch {
	case len(r.ProposalIDs) > 0 || len(found.Findings) == 0:
	case asked == nil:
		r.ProposalFailure = &Failure{Code: provider.FailedResultInvalid, Retryable: true,
			Message: "The text model wrote no proposal that the factory can take over. Start another diagnosis."}
	default:
		r.ProposalFailure = silent(asked)
	}
	return nil
}

// silent is why the model has not answered.
func silent(cause error) *Failure {
	if e := provider.RefusalOf(cause); e != nil {
		return &Failure{Code: provider.FailureCode(e.Code), Message: e.Message +
			" The findings do not depend on it.", Retryable: e.Kind == provider.Rejected}
	}
	return &Failure{Code: provider.FailedProviderUnavailable,
		Message:   "The text model could not be reached after several attempts. Start another diagnosis later.",
		Retryable: true}
}

// failed is why there are no findings.
func failed(cause error, r *Rehearsal) *Failure {
	code := provider.FailedGeneration
	switch {
	case errors.Is(cause, task.ErrDeadline):
		code = provider.FailedTimeout
	case errors.Is(cause, errRehearsed) && r.FailureCode != "":
		code = r.FailureCode
	}
	return &Failure{Code: code, Message: "The factory could not be diagnosed. Start another diagnosis.",
		Retryable: true}
}

// proposal makes the n-th proposal of a diagnosis of a draft.
func (w *Worker) proposal(r *DiagnosisRecord, f factory.Factory, n int, d draft) (*ProposalRecord, error) {
	now := w.Now()
	base, err := f.Under(d.Patch)
	return &ProposalRecord{Base: base, Proposal: Proposal{
		// The id has the time of the diagnosis, so that a reset of the sandbox removes both,
		// less a little for each, so that lists have the most useful proposal first.
		Resource: resource.New(id.Derived(id.Proposal, r.CreatedAt.Add(-time.Duration(n)*time.Millisecond), r.ID,
			fmt.Sprint(n)), now, nil),
		FactoryID: f.ID, Source: FromDiagnosis, Title: d.Title, Rationale: d.Rationale, Patch: d.Patch,
		ExpectedEffect: d.ExpectedEffect,
		BaseVersion:    f.Version, State: Open, ExpiresAt: resource.Instant(now.Add(Life)),
	}}, err
}

// change returns a change of the diagnosis, if it still waits for the task. The event of its completion follows from
// its state.
func (w *Worker) change(r *task.Run, factoryID string, change func(*store.Tx, *subject) error) func(context.Context,
	*store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		on, err := w.read(ctx, r, factoryID)
		if err != nil || on == nil {
			return err
		}
		if err := change(tx, on); err != nil {
			return err
		}
		on.record.Touch(w.Now())
		if on.record.State == Completed {
			if err := on.record.Notify(tx, r.Owner); err != nil {
				return err
			}
		}
		return tx.Rewrite(on.item, on.record)
	}
}

// extremes is the number of the best and of the worst texts that a model sees.
const extremes = 5

// page is the number of items that are read in one round trip.
const page = 100

// facts reads the factory's social accounts and its newest items for a diagnosis, and returns the items, too.
func (w *Worker) facts(ctx context.Context, o tenant.Owner, f factory.Factory) (facts Facts,
	made []*item.Record, err error) {
	facts = Facts{Now: w.Now(), Factory: settingsOf(f)}
	if facts.Factory.Accounts, err = w.accounts(ctx, o, f.SocialAccountIDs); err != nil {
		return facts, nil, err
	}
	q := store.Query{
		Index: store.ByParent, Partition: item.ParentPartition(o, f.ID),
		From: id.First(id.ContentItem, facts.Now.Add(-Window)), Limit: page,
	}
	for len(facts.Items) < MaxItems {
		read, err := item.List(ctx, w.DB, q)
		if err != nil {
			return facts, nil, err
		}
		for _, r := range read.Records {
			facts.Items, made = append(facts.Items, itemOf(r)), append(made, r)
			facts.Posts = append(facts.Posts, postsOf(r, facts.Factory.Topics)...)
		}
		if q.After = read.Next; q.After == nil {
			break
		}
	}
	facts.Items = facts.Items[:min(len(facts.Items), MaxItems)]
	earlier, err := w.earlier(ctx, o, facts, made)
	facts.Posts = append(facts.Posts, earlier...)
	return facts, made, err
}

// earlier returns the imported posts of the accounts of a factory, without those that the service has published.
func (w *Worker) earlier(ctx context.Context, o tenant.Owner, facts Facts, made []*item.Record) (all []Post,
	err error) {
	own := map[string]bool{}
	for _, r := range made {
		for _, pub := range r.Item.Publications {
			if pub.PlatformPostID != nil {
				own[pub.Platform+" "+*pub.PlatformPostID] = true
			}
		}
	}
	from := facts.Now.Add(-Window)
	var ids []string
	for _, a := range facts.Factory.Accounts {
		ids = append(ids, a.ID)
	}
	known, err := social.Past(ctx, w.DB, o, from, facts.Now, ids...)
	if err != nil {
		return nil, err
	}
	for _, a := range facts.Factory.Accounts {
		for _, p := range known[a.ID] {
			if p.Views == nil || p.At.Before(from) || own[a.Platform+" "+p.ID] {
				continue
			}
			all = append(all, Post{Platform: a.Platform, Kind: string(p.Kind), PublishedAt: p.At, Views: int(*p.Views),
				Topics: topicsIn(p.Text, facts.Factory.Topics), Reactions: int(item.Counts(p.Metrics).Reactions())})
		}
	}
	return all, nil
}

// topicsIn returns the topics that a text names.
func topicsIn(text string, topics []string) []string {
	text = strings.ToLower(text)
	return slices.DeleteFunc(slices.Clone(topics),
		func(topic string) bool { return !strings.Contains(text, strings.ToLower(topic)) })
}

func settingsOf(f factory.Factory) Factory {
	d := Factory{
		CreatedAt: f.CreatedAt.Time, Active: f.State == factory.StateActive,
		Description: string(f.Description), Audience: string(f.Audience), Tone: string(f.Tone),
		ContentTypes: f.ContentTypes,
	}
	for _, topic := range f.Topics {
		d.Topics = append(d.Topics, string(topic))
	}
	if f.Schedule != nil {
		d.Times = len(f.Schedule.Times)
		d.Zone, _ = time.LoadLocation(f.Schedule.Timezone) // it was checked when it was set
	}
	return d
}

// accounts reads the social accounts of a factory.
func (w *Worker) accounts(ctx context.Context, o tenant.Owner, ids []string) (all []Account, err error) {
	items, err := w.DB.GetAll(ctx, store.IDKeys(ids)...)
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		if !social.Is(it, o) {
			continue // it is being deleted
		}
		a, err := social.Decode(&it)
		if err != nil {
			return nil, err
		}
		all = append(all, Account{ID: ids[i], Platform: a.Platform, Handle: string(a.Handle),
			Lost: a.State == social.NeedsReconnect || a.State == social.Disconnected})
	}
	return all, nil
}

// postsOf returns the posts of an item that the platforms have reported figures of.
func postsOf(r *item.Record, topics []string) (all []Post) {
	topics = topicsIn(r.Item.Prompt+" "+string(r.Item.Caption), topics)
	for _, p := range r.Item.Publications {
		if m := p.Metrics; p.PublishedAt != nil && m != nil && m.Views != nil {
			all = append(all, Post{Platform: p.Platform, Kind: string(r.Item.Kind), Topics: topics,
				PublishedAt: p.PublishedAt.Time, Views: int(*m.Views), Reactions: int(m.Reactions())})
		}
	}
	return all
}

func itemOf(r *item.Record) Item {
	it := Item{
		Kind: string(r.Item.Kind), State: string(r.Item.State), Caption: string(r.Item.Caption),
		Hashtags:  r.Item.Hashtags,
		Accounts:  r.Item.SocialAccountIDs,
		CreatedAt: r.Item.CreatedAt.Time, MadeAt: r.Item.GeneratedAt.OrZero(), PublishAt: r.Item.PublishAt.OrZero(),
	}
	if r.Item.Failure != nil {
		it.Failure = string(r.Item.Failure.Code)
	}
	for _, p := range r.Item.Publications {
		switch {
		case p.State == item.PublicationFailed && p.Failure != nil:
			it.Publications = append(it.Publications,
				Publication{At: p.UpdatedAt.Time, Failure: p.Failure.Code})
		case p.State == item.PublicationPublished && p.PublishedAt != nil:
			it.Publications = append(it.Publications, Publication{At: p.PublishedAt.Time})
		}
	}
	return it
}

// answerTokens is the most that an answer takes: five proposals.
const answerTokens = 4000

// question asks the stack's usual text model for proposals. It is not the factory's own: diagnoses cost nothing, so
// that their price to us must not depend on a caller's choice.
func (w *Worker) question(mode tenant.Mode, on *subject, found *analysis, known outcome) (q ask.Question, err error) {
	m, err := w.Offer.Default(provider.KindText, mode == tenant.Live)
	if err != nil { // the stack has no text model for live keys
		return q, task.Permanent(&provider.Error{Kind: provider.BadInput, Code: string(provider.FailedModel),
			Message: errs.As(err).Message, Cause: err})
	}
	schema, err := factory.PatchSchema(on.factory.Type, patched...)
	if err != nil {
		return q, err
	}
	q = ask.Question{Model: m.ID, Language: on.factory.Language, Tokens: answerTokens,
		Prompt: prompt.Proposing{Language: on.factory.Language, Schema: string(schema), Most: maxProposals,
			Title: maxTitle, Rationale: maxRationale, Effect: maxEffect, Data: map[string]any{
				"factory": shown(on.factory), "findings": found.Findings, "best": found.Best, "worst": found.Worst,
				"accepted": known.Drafts, "refused": known.RefusedDrafts}}.Prompt(),
		Sample: map[string]any{"proposals": sampleOf(on.factory, found.Findings)}}
	if r := on.record.Sandbox; r != nil && r.Outcome == OutcomeNoProposals {
		q.Rehearsal = provider.Rehearsal{Fail: true, Code: r.FailureCode}
	}
	return q, nil
}

// shown are the settings that the model sees.
func shown(f factory.Factory) map[string]any {
	return map[string]any{
		"type": f.Type, "name": f.Name, "language": f.Language, "description": f.Description, "audience": f.Audience,
		"tone":   f.Tone,
		"topics": f.Topics, "content_types": f.ContentTypes, "schedule": f.Schedule, "settings": f.Settings,
	}
}

// diagnosisSamples are the findings that a test key can request, with the numbers of an imagined factory.
var diagnosisSamples = []Finding{
	found(NoContent, Warning, "Nothing was made in the last 90 days.", "days", 90),
	found(NoRecentContent, Critical, "Nothing was made for 34 days.", "days", 34),
	found(BelowSchedule, Critical, "Of 56 times of the schedule in the last 28 days, 21 were filled (38%).", "planned",
		56, "made", 21, "share", 0.375),
	found(IrregularCadence, Warning, "In the last 28 days, 9 days passed between two items.", "days", 9, "items", 14),
	found(LateItems, Warning, "3 of 20 planned items of the last 28 days were not ready at their time.", "late", 3,
		"planned", 20, "share", 0.15),
	found(FailureRate, Critical, "14 of 40 items of the last 90 days failed (35%).", "failed", 14, "ended", 40,
		"share", 0.35, "share_at_least", 0.2213).about("", Wilson),
	found(FailureCause, Info, "9 of 14 failed items failed with content_policy.", "failed", 9, "failed_in_all", 14,
		"share", 0.6429).about("content_policy", ""),
	found(FailureByKind, Warning, "Items of the kind video fail more often than others: 10 of 15, against 4 of 25.",
		"failed", 10, "ended", 15, "others_failed", 4, "others_ended", 25, "z", 3.2516, "p", 0.0011).
		about("video", TwoProportion),
	found(EngagementByKind, Info, "Posts of the kind carousel get more engagement than others: one of them beats one "+
		"of the others in 78% of all pairs.", "posts", 18, "others", 42, "superiority", 0.78, "p", 0.0007).
		about("carousel", MannWhitney),
	found(EngagementByHour, Info, "Posts published at 18 o'clock get more engagement than others: one of them beats "+
		"one of the others in 74% of all pairs.", "posts", 16, "others", 44, "superiority", 0.74, "p", 0.0046).
		about("18", MannWhitney),
	found(EngagementByTopic, Info, `Posts about "Behind the scenes" get more engagement than others: one of them `+
		`beats one of the others in 71% of all pairs.`, "posts", 14, "others", 46, "superiority", 0.71, "p", 0.0182).
		about("Behind the scenes", MannWhitney),
	found(AccountDisconnected, Critical, "The social account @sample on instagram is not connected. Nothing is "+
		"published to it until its owner connects it again.").about("@sample", ""),
	found(PublicationFailures, Critical, "2 of 9 publications of the last 30 days failed: needs_reconnect (2). "+
		"Publish the items again once the cause is gone.", "failed", 2, "ended", 9, "share", 0.2222),
	found(UnusedAccount, Warning, "None of the 24 items of the last 30 days goes to the social account @sample.",
		"items", 24, "days", 30).about("@sample", ""),
	found(CaptionTooLong, Warning, "3 of 24 captions are longer with their hashtags than telegram permits. The "+
		"longest has 1180 of 1024 characters.", "too_long", 3, "captions", 24, "longest", 1180, "limit", 1024).
		about("telegram", ""),
	found(UnusedContentType, Info, "The content types of the factory include music_clip, but none of its last 40 "+
		"items is of that kind.", "items", 40).about("music_clip", ""),
	found(NoDescription, Warning, "The factory has no description, so that its content has no subject beyond each "+
		"prompt."),
	found(NoAudience, Warning, "The factory has no audience, so that its texts address no one in particular."),
	found(NoTopics, Warning, "The factory has no topics."),
	found(FewTopics, Info, "The factory has 1 of at least 3 topics. With few topics, content repeats itself.",
		"topics", 1, "at_least", 3),
	found(NoTone, Info, "The factory has no tone."),
	found(NoSchedule, Info, "The factory has no schedule."),
}

// Rehearsed returns the findings of the codes that a test key requests, the most severe first.
func Rehearsed(codes []Code) (all []Finding) {
	asked := map[Code]bool{}
	for _, code := range codes {
		asked[code] = true
	}
	for _, f := range diagnosisSamples {
		if asked[f.Code] {
			all = append(all, f)
		}
	}
	return sorted(all)
}

// sampleOf returns the proposals of the sandbox, in the language of the factory: the same for the same factory and
// findings.
func sampleOf(f factory.Factory, findings []Finding) (all []draft) {
	texts := samples.Of(f.Language).Proposals
	used := map[string]bool{}
	propose := func(title string, code Code, member string, value any) {
		if len(all) < maxProposals && !used[member] {
			used[member] = true
			all = append(all, draft{Title: title, Rationale: samples.Fill(texts.Rationale, "code", string(code)),
				Patch: map[string]any{member: value}, ExpectedEffect: texts.Effect})
		}
	}
	tone := texts.Tone[1]
	if string(f.Tone) == tone {
		tone = texts.Tone[2]
	}
	for _, finding := range findings {
		switch code := finding.Code; code {
		case NoDescription:
			propose(texts.Description[0], code, "description", samples.Fill(texts.Description[1], "name", f.Name))
		case NoAudience:
			propose(texts.Audience[0], code, "audience", texts.Audience[1])
		case NoTone, EngagementByKind, EngagementByTopic:
			propose(texts.Tone[0], code, "tone", tone)
		case NoTopics, FewTopics:
			topics := slices.Clone(f.Topics)
			for _, topic := range texts.Topics[1:] {
				if topic := factory.Topic(topic); !slices.Contains(topics, topic) {
					topics = append(topics, topic)
				}
			}
			propose(texts.Topics[0], code, "topics", topics)
		case NoSchedule, IrregularCadence, EngagementByHour:
			zone := "UTC"
			if f.Schedule != nil {
				zone = f.Schedule.Timezone
			}
			propose(texts.Schedule[0], code, "schedule", map[string]any{"timezone": zone,
				"times": []string{"09:00", "18:00"}})
		case UnusedContentType:
			kept := slices.DeleteFunc(slices.Clone(f.ContentTypes),
				func(kind string) bool { return kind == *finding.Subject })
			if len(kept) > 0 && len(kept) < len(f.ContentTypes) {
				propose(texts.ContentTypes[0], code, "content_types", kept)
			}
		}
	}
	if len(all) == 0 && len(findings) > 0 {
		propose(texts.Tone[0], findings[0].Code, "tone", tone)
	}
	return all
}
