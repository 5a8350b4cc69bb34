// Package sample is the assistant of the sandbox. It understands the plain wishes of a
// few languages by fixed rules, and takes part in a conversation as a language model
// does: it calls tools, and says what came of it. It costs nothing, makes no call, and is
// deterministic.
package sample

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// Assistant answers conversations.
type Assistant struct{}

var _ provider.Converser = Assistant{}

// Converse implements provider.Converser. It asks for tools in its first turn, and says in
// its second one what they have returned.
func (Assistant) Converse(ctx context.Context, c provider.Conversation) (provider.Turn, error) {
	if err := ctx.Err(); err != nil {
		return provider.Turn{}, err
	}
	last := c.Turns[len(c.Turns)-1]
	if len(last.Results) == 0 {
		calls, err := callsFor(last.Text)
		if err != nil || len(calls) > 0 {
			return provider.Turn{Model: true, Calls: calls}, err
		}
		return provider.Turn{Model: true, Text: phrases[languageOf(last.Text)].help}, nil
	}
	asked, called := c.Turns[len(c.Turns)-3], c.Turns[len(c.Turns)-2]
	say := phrases[languageOf(asked.Text)]
	var said []string
	for i, r := range last.Results {
		text, err := say.result(called.Calls[i].Name, r)
		if err != nil {
			return provider.Turn{}, err
		}
		said = append(said, text)
	}
	return provider.Turn{Model: true, Text: strings.Join(said, "\n")}, nil
}

// callsFor returns the calls of tools that a message asks for; none where it asks for
// nothing that is understood.
func callsFor(text string) (calls []provider.ToolCall, err error) {
	w := understand(text)
	call := func(name string, input object) {
		raw, failed := json.Marshal(input)
		if failed != nil {
			err = failed
		}
		calls = append(calls, provider.ToolCall{ID: "call_" + strconv.Itoa(len(calls)+1), Name: name, Input: raw})
	}
	switch w.what {
	case wantsFactory:
		call("draft_factory", object{"body": w.factory()})
	case wantsPlan:
		body := object{"days": w.days, "posts_per_day": max(w.perDay, 1)}
		if first, _, _ := strings.Cut(w.subject, " "); w.subject != "" && value(first) == 0 { // and no "for two weeks"
			body["brief"] = w.subject
		}
		call("draft_content_plan", object{"body": body})
	case wantsItem:
		call("draft_content_item", object{"body": object{"kind": w.kind, "prompt": w.prompt(text)}})
	case wantsFactories:
		call("list_factories", object{})
	case wantsProposals:
		call("list_proposals", object{})
	case wantsModels:
		call("list_models", object{"kind": "image"})
	case wantsFacts:
		call("read_factory", object{})
		call("read_analytics", object{})
	}
	return calls, err
}

type object = map[string]any

// returned is what the tools return, as far as it is said.
type returned struct {
	Error *struct{ Message string }
	Draft struct {
		Kind string
		Body struct {
			Name, Prompt string
			Days         int
			PostsPerDay  int `json:"posts_per_day"`
		}
	}
	Factory   struct{ Name, Type string }
	Factories []struct{ ID, Name string }
	Proposals []struct{ Title string }
	Models    []struct{ ID string }
	Analytics struct {
		Totals struct{ Made, Failed, Published int64 }
	}
}

// result says what a tool has returned.
func (p phrase) result(tool string, r provider.ToolResult) (string, error) {
	var got returned
	if err := json.Unmarshal(r.Content, &got); err != nil {
		return "", fmt.Errorf("sample: result of %s: %w", tool, err)
	}
	if got.Error != nil {
		return fmt.Sprintf(p.refused, got.Error.Message), nil
	}
	switch tool {
	case "draft_factory":
		return fmt.Sprintf(p.factory, got.Draft.Body.Name), nil
	case "draft_content_plan":
		return fmt.Sprintf(p.plan, got.Draft.Body.Days, got.Draft.Body.PostsPerDay), nil
	case "draft_content_item":
		return fmt.Sprintf(p.item, got.Draft.Body.Prompt), nil
	case "list_factories":
		names := []string{}
		for _, f := range got.Factories {
			names = append(names, f.Name+" ("+f.ID+")")
		}
		return fmt.Sprintf(p.factories, len(names), strings.Join(names, ", ")), nil
	case "list_proposals":
		titles := []string{}
		for _, proposal := range got.Proposals {
			titles = append(titles, proposal.Title)
		}
		return fmt.Sprintf(p.proposals, len(titles), strings.Join(titles, ", ")), nil
	case "list_models":
		ids := []string{}
		for _, m := range got.Models {
			ids = append(ids, m.ID)
		}
		return fmt.Sprintf(p.models, strings.Join(ids, ", ")), nil
	case "read_analytics":
		t := got.Analytics.Totals
		return fmt.Sprintf(p.analytics, t.Made, t.Failed, t.Published), nil
	default:
		return fmt.Sprintf(p.about, got.Factory.Name, got.Factory.Type), nil
	}
}
