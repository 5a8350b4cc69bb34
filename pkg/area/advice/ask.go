package advice

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/task"
)

// answerTokens is the most that an answer takes: five proposals.
const answerTokens = 4000

// ask has the stack's usual text model write proposals. It is not the factory's own:
// diagnoses cost nothing, so that their price to us must not depend on a caller's choice.
func (w *Worker) ask(ctx context.Context, s *task.Step, p progress, on *subject) (json.RawMessage, error) {
	m, err := w.Offer.Default(provider.KindText, s.Mode == tenant.Live)
	if err != nil {
		return nil, absent(err)
	}
	writer, err := w.Providers.For(m.Provider, s.Mode)
	if err != nil {
		return nil, absent(err)
	}
	schema, err := factory.PatchSchema(on.factory.Type, patched...)
	if err != nil {
		return nil, err
	}
	asked := prompt.Proposing{Language: on.factory.Language, Schema: string(schema), Most: maxProposals,
		Title: maxTitle, Rationale: maxRationale, Effect: maxEffect, Data: map[string]any{"factory": shown(on.factory),
			"findings": p.Findings, "best": p.Best, "worst": p.Worst, "accepted": p.Drafts, "refused": p.Refused},
	}.Prompt()
	sample, err := json.Marshal(map[string]any{"proposals": sampleOf(on.factory, p.Findings)})
	if err != nil {
		return nil, err
	}
	req := provider.Request{
		Kind: provider.KindText, Model: m.ProviderModel, Options: m.ProviderOptions,
		ClientToken: fmt.Sprint(s.ID, "/", p.Asked), Prompt: asked.User, Language: on.factory.Language,
		PromptVersion: asked.Version, Form: &provider.Form{System: asked.System, Tokens: answerTokens, Sample: sample},
	}
	if r := on.record.Sandbox; r != nil && r.Outcome == OutcomeNoProposals {
		req.Rehearsal = provider.Rehearsal{Fail: true, Code: r.FailureCode}
	}
	return provider.Ask(ctx, writer, req)
}

// absent is the error of a stack that has no text model for live keys.
func absent(cause error) error {
	return &provider.Error{Kind: provider.BadInput, Code: string(provider.FailedModel), Message: errs.As(cause).Message,
		Cause: cause}
}

// shown are the settings that the model sees.
func shown(f factory.Factory) map[string]any {
	return map[string]any{
		"type": f.Type, "name": f.Name, "language": f.Language, "description": f.Description, "audience": f.Audience,
		"tone":   f.Tone,
		"topics": f.Topics, "content_types": f.ContentTypes, "schedule": f.Schedule, "settings": f.Settings,
	}
}
