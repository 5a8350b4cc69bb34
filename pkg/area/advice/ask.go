package advice

import (
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/ask"
	"github.com/content-automation/api/pkg/task"
)

// answerTokens is the most that an answer takes: five proposals.
const answerTokens = 4000

// question asks the stack's usual text model for proposals. It is not the factory's own: diagnoses cost nothing, so
// that their price to us must not depend on a caller's choice.
func (w *Worker) question(mode tenant.Mode, on *subject, found *analysis, known proposed) (q ask.Question, err error) {
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
				"accepted": known.Drafts, "refused": known.Refused}}.Prompt(),
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
