package advice

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type applyExperimentInput struct {
	experiment.Path
	httpapi.IfMatch
	Body applyExperimentBody
}

type applyExperimentBody struct {
	// Whether the factory is changed at once. Absent: an open proposal is made, for you to apply.
	Apply bool `json:"apply,omitempty"`
}

// registerExperiments adds the operation that makes a proposal of an experiment.
func (s *Service) registerExperiments(r *httpapi.Router) {
	apply := httpapi.Op{ID: "applyExperiment", Method: http.MethodPost, Path: "/v1/experiments/{experiment_id}/apply",
		Scope: auth.FactoriesWrite, Function: "factory", Tag: "Analytics", Summary: "Apply the result of an experiment",
		Description: "Makes a proposal for the factory of the winners of a decided experiment, with the evidence, " +
			"once. With `apply`, it changes the factory at once. A length, a format and the style of pictures are no " +
			"settings of a factory: send them with your items, or name the experiment in `from_experiment_ids` of a " +
			"content plan.", Opens: httpapi.Publishing}
	apply.Status, apply.Errors = http.StatusCreated, []errs.Code{errs.InvalidState, errs.StaleProposal,
		errs.VersionMismatch}
	httpapi.Write(r, apply, s.applyExperiment)
}

func (s *Service) applyExperiment(ctx context.Context, tx *store.Tx, in *applyExperimentInput) (out Proposal,
	err error) {
	r, it, err := experiment.Find(ctx, s.db, in.ID)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	now := s.now()
	if r.State == experiment.Running {
		if _, err := r.LookAt(ctx, s.db, it.Owner, now); err != nil {
			return out, err
		}
	}
	if r.State != experiment.Decided || r.ProposalID != nil {
		why := "The experiment is " + string(r.State) + ", and has no winner to apply."
		if r.ProposalID != nil {
			why = "The experiment has made the proposal " + *r.ProposalID + " already: apply that one."
		}
		return out, errs.New(errs.InvalidState, "%s", why).In(string(r.State))
	}
	of, err := resource.Find(ctx, s.db, id.Factory, factory.Kind, r.FactoryID)
	if err != nil {
		return out, err
	}
	f, err := factory.Decode(&of)
	if err != nil {
		return out, err
	}
	made, err := propose(r, f, now)
	if err != nil {
		return out, err
	}
	if in.Body.Apply {
		if err := made.Apply(tx, auth.FromContext(ctx), &f, of, now); err != nil {
			return out, err
		}
	}
	return made.Proposal, propagate(tx, r, made, it, now)
}

// propagate adds the proposal of an experiment, and the experiment itself, to the transaction.
func propagate(tx *store.Tx, r *experiment.Record, made *ProposalRecord, it store.Item, now time.Time) error {
	p, err := made.Entry(it.Owner)
	if err != nil {
		return err
	}
	tx.Create(p, nil)
	r.ProposalID = &made.ID
	r.Touch(now)
	if it, err = r.Into(it); err != nil {
		return err
	}
	tx.Replace(it)
	return made.Announce(tx, it.Owner)
}

// errNoSetting refuses the result of factors that are no settings of a factory.
var errNoSetting = errors.New("advice: no setting")

// propose returns the proposal of the winners.
func propose(r *experiment.Record, f factory.Factory, now time.Time) (*ProposalRecord, error) {
	patch, said := map[string]any{}, []string{}
	for _, w := range r.Winners {
		if setting(patch, f, r, w) {
			said = append(said, w.Factor+" "+strconv.Quote(w.Arm))
		}
	}
	if len(said) == 0 {
		return nil, errs.Wrap(errNoSetting, errs.InvalidState, "What has won is no setting of the factory. Send it "+
			"with your content items, or name the experiment in from_experiment_ids of a content plan.").
			In(string(r.State))
	}
	var evidence []string
	for _, w := range r.Winners {
		for _, res := range r.Results {
			if res.Factor == w.Factor && res.Estimate != nil && (res.Arm == w.Arm || w.Arm == first(r, w.Factor)) {
				evidence = append(evidence, fmt.Sprintf("%s: a post does better than one of %s with the probability "+
					"%.2f (%.2f to %.2f, %d posts)", res.Arm, first(r, w.Factor), 0.5+*res.Estimate, 0.5+*res.Lower,
					0.5+*res.Upper, res.N))
			}
		}
	}
	title := "Use " + strings.Join(said, " and ")
	return NewProposal(f, id.Derived(id.Proposal, r.EndedAt.Time, r.ID), Proposal{
		Source: FromExperiment, Title: title, Rationale: r.Question + " " + strings.Join(evidence, ". ") + ".",
		Patch: patch, ExpectedEffect: "More " + r.Metric.Name + " on " + r.Metric.Platform + "."}, now)
}

// first returns the first arm of a factor.
func first(r *experiment.Record, factor string) string {
	i := slices.IndexFunc(r.Factors, func(f experiment.Factor) bool { return f.Name == factor })
	return r.Factors[i].Arms[0]
}

// setting adds the winner to the patch of a factory, and reports whether there is such a setting.
func setting(patch map[string]any, f factory.Factory, r *experiment.Record, w experiment.Winner) bool {
	settings, _ := patch["settings"].(map[string]any)
	if settings == nil {
		settings = map[string]any{}
	}
	switch w.Factor {
	case experiment.FactorHook:
		patch["tone"] = strings.TrimPrefix(string(f.Tone)+"; "+experiment.Hooks[w.Arm], "; ")
	case experiment.FactorPillar:
		topics := []any{w.Arm}
		for _, t := range f.Topics {
			if string(t) != w.Arm {
				topics = append(topics, string(t))
			}
		}
		patch["topics"] = topics
	case experiment.FactorSlot:
		times := []any{w.Arm}
		if f.Schedule != nil {
			i := slices.IndexFunc(r.Factors, func(f experiment.Factor) bool { return f.Name == experiment.FactorSlot })
			for _, at := range f.Schedule.Times {
				if !slices.Contains(r.Factors[i].Arms, at) {
					times = append(times, at)
				}
			}
		}
		patch["schedule"] = map[string]any{"timezone": r.Zone, "times": times}
	case experiment.FactorCaptionStyle:
		settings["caption_style"], patch["settings"] = w.Arm, settings
	case experiment.FactorFirstFrame:
		settings["post_headlines"], patch["settings"] = w.Arm == "headline", settings
	default:
		return false
	}
	return true
}

// ExperimentApplier applies the results of experiments with auto_apply, on behalf of who has created them.
type ExperimentApplier struct {
	DB  *store.DB
	Now func() time.Time
}

// Apply adds the applied proposal of the winners to the transaction. It reports false, and changes nothing, if the
// factory does not take it: the result stays, for people to decide.
func (w ExperimentApplier) Apply(ctx context.Context, tx *store.Tx, r *experiment.Record,
	it store.Item) (bool, error) {
	of, err := w.DB.Lookup(ctx, factoryrecord.Key(r.FactoryID))
	if err != nil || !factoryrecord.Usable(of, it.Owner) {
		return false, err
	}
	f, err := factory.Decode(&of)
	if err != nil {
		return false, err
	}
	now := w.Now()
	held, err := r.Authority.Find(ctx, w.DB, it.Owner, now)
	if err == nil {
		err = authority.Lacks(held.Principal, auth.FactoriesWrite)
	}
	if ended := (*authority.EndedError)(nil); errors.As(err, &ended) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	held.Hold(tx)
	made, err := propose(r, f, now)
	if err == nil {
		err = made.Apply(tx, held.Principal, &f, of, now)
	}
	if refused := (*errs.Error)(nil); errors.As(err, &refused) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, propagate(tx, r, made, it, now)
}
