package area_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

func TestTheSandboxMakesDraftsOfWhatIsAsked(t *testing.T) {
	w := newArchitectWorld(t)
	path := w.chat(w.Caller, "metadata", object{"team": "sales"})
	reply := w.send(w.Caller, path, "A seller factory for running shoes in German, two posts a day")
	if reply.Role != architect.Assistant || !strings.Contains(reply.Text, "“Running shoes”") || len(reply.DraftIDs) != 1 ||
		len(reply.Sources) != 0 || reply.CostCredits != 0 {
		t.Fatalf("%+v", reply)
	}
	d := w.drafts(w.Caller, "")[0]
	body, _ := json.Marshal(d.Body)
	want := `{"description":"Running shoes","language":"de","name":"Running shoes","schedule":{"timezone":"UTC","times":["09:00","21:00"]},"settings":{"currency":"EUR"},"topics":["Running shoes"],"type":"seller"}`
	var same, wanted any
	if json.Unmarshal(body, &same) != nil || json.Unmarshal([]byte(want), &wanted) != nil ||
		fmt.Sprint(same) != fmt.Sprint(wanted) {
		t.Errorf("%s", body)
	}
	if d.Kind != architect.Factory || d.State != architect.Open || d.FactoryID != nil || d.ResultID != nil ||
		d.ID != reply.DraftIDs[0] || chats+"/"+d.ChatID != path {
		t.Errorf("%+v", d)
	}
	of := w.get(w.Caller, path)
	if len(of.Messages) != 2 || of.Messages[0].Role != architect.User || of.Messages[1].ID != reply.ID ||
		of.Title != "A seller factory for running shoes in German, two posts a" || of.Version != 3 ||
		of.Metadata["team"] != "sales" {
		t.Errorf("%+v", of)
	}
	var applied architect.Draft
	w.Call(http.MethodPost, "/v1/architect/drafts/"+d.ID+"/apply", nil, "If-Match", `"1"`).Into(t,
		http.StatusCreated, &applied)
	if now := w.get(w.Caller, path); applied.State != architect.Applied || applied.ResultID == nil ||
		now.FactoryID == nil ||
		*now.FactoryID != *applied.ResultID {
		t.Fatalf("%+v in %+v", applied, now)
	}
	// From now on the chat is about the factory.
	for message, kind := range map[string]architect.Subject{"Make a plan for two weeks, three posts a day": architect.ContentPlan,
		"Write a carousel about trail shoes": architect.ContentItem} {
		if d := w.drafted(path, message); d.Kind != kind || d.FactoryID == nil || *d.FactoryID != *applied.ResultID {
			t.Errorf("%s: %+v", message, d)
		}
	}
	facts := w.send(w.Caller, path, "How is my factory doing?")
	if !slices.Equal(facts.Sources, []string{*applied.ResultID}) || !strings.Contains(facts.Text, "Running shoes") ||
		!strings.Contains(facts.Text, "0 items") {
		t.Errorf("%+v", facts)
	}
}

// A live key is answered by the model, which reads by tools and receives their errors, and pays once.
func TestAModelAnswersLiveKeys(t *testing.T) {
	w := newArchitectWorld(t)
	live := w.Live()
	f := w.factory(live)
	path := w.chat(live, "factory_id", f.ID, "title", "Autumn")
	w.model.say = says(
		architectCalls("read_factory", object{}),
		architectCalls("draft_content_item", object{"body": object{"kind": "painting", "prompt": "A shoe"}}),
		architectCalls("draft_content_item", object{"body": object{"kind": "post", "prompt": "A shoe"}}),
		architectText(" Fertig.\r\n\r\n\r\nEin Entwurf.\x00 "),
	)
	w.Faults.Reset()
	reply := w.send(live, path, "Mach einen Beitrag über Schuhe")
	took := w.Faults.Operations()
	if reply.Text != "Fertig.\n\nEin Entwurf." || len(reply.DraftIDs) != 1 ||
		!slices.Equal(reply.Sources, []string{f.ID}) || reply.CostCredits < 1 {
		t.Errorf("%+v", reply)
	}
	if spent, held := w.spent(); spent != reply.CostCredits || held != 0 {
		t.Errorf("%d credits are spent, %d holds are left, it cost %d", spent, held, reply.CostCredits)
	}
	// It reads the chat with the balance, commits the claim, reads for the tools, and commits the answer to the chat
	// as it is then.
	if took != "BatchGetItem TransactWriteItems GetItem BatchGetItem GetItem TransactWriteItems" {
		t.Errorf("it took %s", took)
	}
	if d := w.drafts(live, ""); len(d) != 1 || d[0].Body["factory_id"] != f.ID || d[0].Body["prompt"] != "A shoe" {
		t.Errorf("%+v", d)
	}
	first, last := w.model.asked[0], w.model.asked[3]
	if first.Model == "" || len(first.Turns) != 1 || first.Turns[0].Text != "Mach einen Beitrag über Schuhe" ||
		!strings.Contains(first.System, "the factory "+f.ID) || !strings.Contains(first.System, "Today is 2026-05-01") {
		t.Errorf("%+v", first)
	}
	refused := last.Turns[4].Results[0]
	if shown := string(last.Turns[2].Results[0].Content); !strings.Contains(shown, `"brand_name":"Acme"`) ||
		last.Turns[2].Results[0].Failed || !refused.Failed || !strings.Contains(string(refused.Content),
		"/body/kind") || !strings.Contains(string(refused.Content), "The values are post") {
		t.Errorf("it was told %s and %s", shown, refused.Content)
	}
}

func TestEachMessageIsPricedBefore(t *testing.T) {
	w := newArchitectWorld(t)
	live := w.Live()
	path := w.chat(live)
	w.model.say = func(context.Context, provider.Conversation) (provider.Turn, error) {
		if spent, held := w.spent(); spent < 1 || held != 1 {
			t.Errorf("while it answers, %d credits are reserved by %d holds", spent, held)
		}
		return provider.Turn{Model: true, Text: "Hello"}, nil
	}
	w.send(live, path, "Hello")
	poor := live.As(func(p *auth.Principal) { limit := int64(0); p.SpendLimit = &limit })
	poor.Call(http.MethodPost, path+"/messages", object{"text": "Hello"}).Refused(t, 402, errs.SpendLimitReached, "")
	if n := len(w.get(live, path).Messages); n != 2 {
		t.Errorf("there are %d messages after one was refused", n)
	}
}

// A model that takes too long is not paid for. The message stays, and the next one has it
// answered, too.
func TestAModelThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newArchitectWorld(t)
		live := w.Live()
		path := w.chat(live)
		w.model.say = func(ctx context.Context, _ provider.Conversation) (provider.Turn, error) {
			began := time.Now()
			<-ctx.Done()
			if waited := time.Since(began); waited != 22*time.Second {
				t.Errorf("it had %v", waited)
			}
			return provider.Turn{}, &provider.Error{Kind: provider.Transient, Code: "timeout", Cause: ctx.Err()}
		}
		late := live.Call(http.MethodPost, path+"/messages", object{"text": "Hello"}, "Idempotency-Key", "one")
		late.Refused(t, 504, errs.Timeout, "")
		if spent, held := w.spent(); spent != 0 || held != 0 {
			t.Errorf("%d credits are spent, %d holds are left", spent, held)
		}
		if of := w.get(live, path); len(of.Messages) != 1 || of.Messages[0].Text != "Hello" {
			t.Errorf("%+v", of.Messages)
		}
		if again := live.Call(http.MethodPost, path+"/messages", object{"text": "Hello"}, "Idempotency-Key",
			"one"); again.Raw != late.Raw {
			t.Errorf("the repeat answers %s", again.Raw)
		}
		w.model.say = says(architectText("Hi"))
		w.send(live, path, "Are you there?")
		if turns := w.model.asked[len(w.model.asked)-1].Turns; len(turns) != 1 ||
			turns[0].Text != "Hello\n\nAre you there?" {
			t.Errorf("%+v", turns)
		}
	})
}

func TestHowAModelFails(t *testing.T) {
	broken := func(kind provider.ErrorKind, code string) func(context.Context,
		provider.Conversation) (provider.Turn, error) {
		return func(context.Context, provider.Conversation) (provider.Turn, error) {
			return provider.Turn{}, &provider.Error{Kind: kind, Code: code, Message: "No."}
		}
	}
	for name, c := range map[string]struct {
		say    func(context.Context, provider.Conversation) (provider.Turn, error)
		status int
		code   errs.Code
		param  string
		kept   int
		asked  int
	}{
		"its rules forbid the message": {broken(provider.Rejected, provider.CodeContentPolicy), 422,
			errs.ValidationFailed, "/text", 0, 1},
		"it is busy for long": {broken(provider.Transient, "provider_busy"), 503,
			errs.ProviderUnavailable, "", 1, 3},
		"its answer is lost": {broken(provider.UnknownOutcome, "answer_lost"), 503,
			errs.ProviderUnavailable, "", 1, 1},
		"it says nothing": {func(context.Context,
			provider.Conversation) (provider.Turn, error) {
			return architectText(" \x00 "), nil
		}, 503, errs.ProviderUnavailable, "", 1, 1},
		"it calls tools without end": {func(context.Context, provider.Conversation) (provider.Turn, error) {
			return architectCalls("list_models", object{"kind": "image"}), nil
		}, 503, errs.ProviderUnavailable, "", 1, 6},
	} {
		t.Run(name, func(t *testing.T) {
			w := newArchitectWorld(t)
			live := w.Live()
			path := w.chat(live)
			w.model.say = c.say
			live.Call(http.MethodPost, path+"/messages", object{"text": "Hello"}).Refused(t, c.status, c.code, c.param)
			if spent, held := w.spent(); spent != 0 || held != 0 {
				t.Errorf("%d credits are spent, %d holds are left", spent, held)
			}
			if of := w.get(live, path); len(of.Messages) != c.kept || len(w.model.asked) != c.asked {
				t.Errorf("%d messages are kept, the model was asked %d times", len(of.Messages), len(w.model.asked))
			}
		})
	}
	t.Run("it is busy for a moment", func(t *testing.T) {
		w := newArchitectWorld(t)
		path := w.chat(w.Live())
		w.model.say = func(ctx context.Context, c provider.Conversation) (provider.Turn, error) {
			w.model.say = says(architectText("Hi"))
			return broken(provider.Transient, "provider_busy")(ctx, c)
		}
		w.send(w.Live(), path, "Hello")
	})
}

func TestOutcomesAreRehearsed(t *testing.T) {
	w := newArchitectWorld(t)
	path := w.chat(w.Caller)
	for outcome, want := range map[string]struct {
		status int
		code   errs.Code
	}{
		"timeout": {504, errs.Timeout}, "provider_unavailable": {503, errs.ProviderUnavailable},
		"insufficient_balance": {402, errs.InsufficientBalance},
		"spend_limit_reached":  {402, errs.SpendLimitReached}, "rate_limited": {429, errs.RateLimited},
	} {
		w.Call(http.MethodPost, path+"/messages",
			object{"text": "Hello", "sandbox": object{"outcome": outcome}}).Refused(t, want.status, want.code, "")
	}
	w.Call(http.MethodPost, path+"/messages",
		object{"text": "Hello", "sandbox": object{"outcome": "failed"}}).Refused(t, 422, errs.ValidationFailed,
		"/sandbox/outcome")
	live := w.Live()
	live.Call(http.MethodPost, w.chat(live)+"/messages", object{"text": "Hello", "sandbox": object{}}).Refused(t, 422,
		errs.ValidationFailed, "/sandbox")
}

func TestMessagesThatAreRefused(t *testing.T) {
	w := newArchitectWorld(t)
	path := w.chat(w.Caller)
	for name, c := range map[string]struct {
		caller *apitest.Caller
		path   string
		body   any
		status int
		code   errs.Code
		param  string
	}{
		"an empty one": {w.Caller, path, object{"text": ""}, 422, errs.ValidationFailed, "/text"},
		"a blank one":  {w.Caller, path, object{"text": " \n"}, 422, errs.ValidationFailed, "/text"},
		"none":         {w.Caller, path, object{}, 422, errs.ValidationFailed, "/text"},
		"a long one": {w.Caller, path, object{"text": strings.Repeat("x", 4001)}, 422,
			errs.ValidationFailed, "/text"},
		"one of a megabyte": {w.Caller, path, object{"text": strings.Repeat("x", 1<<20)}, 413,
			errs.BodyTooLarge, ""},
		"to another account's chat": {w.Stranger(), path, object{"text": "Hello"}, 404, errs.NotFound, ""},
		"to the other mode's chat":  {w.Live(), path, object{"text": "Hello"}, 404, errs.NotFound, ""},
		"to no chat":                {w.Caller, chats + "/acme", object{"text": "Hello"}, 404, errs.NotFound, ""},
		"without the scope": {w.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.FactoriesWrite} }),
			path, object{"text": "Hello"}, 403, errs.InsufficientScope, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.caller.Call(http.MethodPost, c.path+"/messages", c.body).Refused(t, c.status, c.code, c.param)
		})
	}
	if of := w.get(w.Caller, path); len(of.Messages) != 0 {
		t.Errorf("%+v", of)
	}
	w.Call(http.MethodPost, chats, object{"factory_id": "fac_01h455vb4pex5vsknk084sn02q"}).Refused(t, 404,
		errs.NotFound, "/factory_id")
	w.Call(http.MethodPost, chats, object{"factory_id": w.factory(w.Live()).ID}).Refused(t, 404, errs.NotFound,
		"/factory_id")
	w.Call(http.MethodPost, chats, object{"title": "a\nb"}).Refused(t, 422, errs.ValidationFailed, "/title")
}

func TestOneMessageIsAnsweredAtATime(t *testing.T) {
	w := newArchitectWorld(t)
	live := w.Live()
	path := w.chat(live)
	w.model.say = func(context.Context, provider.Conversation) (provider.Turn, error) {
		second := live.Call(http.MethodPost, path+"/messages", object{"text": "And?"})
		second.Refused(t, 409, errs.InvalidState, "")
		second.Context(t, `{"state":"replying","allowed":[]}`)
		return provider.Turn{Model: true, Text: "Hi"}, nil
	}
	w.send(live, path, "Hello")
	if n := len(w.get(live, path).Messages); n != 2 {
		t.Errorf("there are %d messages", n)
	}
}

// A chat ends before its item is too large for the table, and the model reads its end.
func TestLongChats(t *testing.T) {
	w := newArchitectWorld(t)
	live := w.Live()
	path := w.chat(live)
	var a apitest.Answer
	n := 0
	for ; n < architect.MaxMessages; n++ {
		w.model.say = says(architectText(strings.Repeat("ü", 9000)))
		if a = live.Call(http.MethodPost, path+"/messages",
			object{"text": fmt.Sprint(n, strings.Repeat("п", 3900))}); a.Status != http.StatusCreated {
			break
		}
	}
	a.Refused(t, 409, errs.InvalidState, "")
	a.Context(t, `{"state":"full","allowed":[]}`)
	last := w.model.asked[len(w.model.asked)-1]
	bytes := 0
	for _, turn := range last.Turns {
		bytes += len(turn.Text)
	}
	if n < 8 || bytes > 17_000 || last.Turns[0].Model || !strings.HasPrefix(last.Turns[len(last.Turns)-1].Text,
		fmt.Sprint(n-1)) {
		t.Errorf("after %d messages the model reads %d bytes in %d turns", n, bytes, len(last.Turns))
	}
	small := w.chat(w.Caller)
	for range architect.MaxMessages / 2 {
		w.send(w.Caller, small, "Hello")
	}
	w.Call(http.MethodPost, small+"/messages", object{"text": "Hello"}).Refused(t, 409, errs.InvalidState, "")
}

func die() { panic("killed") }

// Wherever a call dies, its task ends it: the money is released or the reply is there, and
// the chat takes the next message.
func TestACallThatDiesIsSettled(t *testing.T) {
	for name, kill := range map[string]func(w *architectWorld){
		"after the claim": func(w *architectWorld) {
			n := 0
			w.Faults.After = func(c storetest.Call) error {
				if n++; c.Operation == "TransactWriteItems" && n > 1 {
					die()
				}
				return nil
			}
		},
		"while the model writes": func(w *architectWorld) {
			w.model.say = func(context.Context, provider.Conversation) (provider.Turn, error) {
				die()
				return provider.Turn{}, nil
			}
		},
		"between the reply and the commit": func(w *architectWorld) {
			w.model.say = func(context.Context, provider.Conversation) (provider.Turn, error) {
				w.Faults.Before("GetItem", die)
				return architectText("Hi"), nil
			}
		},
		"on the way to the commit": func(w *architectWorld) {
			w.model.say = func(context.Context, provider.Conversation) (provider.Turn, error) {
				w.Faults.Before("TransactWriteItems", die)
				return architectText("Hi"), nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newArchitectWorld(t)
			live := w.Live()
			path := w.chat(live)
			w.model.say = says(architectText("Hi"))
			w.Faults.Reset()
			kill(w)
			if a := live.Call(http.MethodPost, path+"/messages", object{"text": "Hello"}, "Idempotency-Key",
				"one"); a.Status != http.StatusInternalServerError {
				t.Fatalf("%d %s", a.Status, a.Raw)
			}
			w.Faults.After = nil
			w.Faults.Reset()
			if spent, held := w.spent(); spent < 1 || held != 1 {
				t.Errorf("when it has died, %d credits are reserved by %d holds", spent, held)
			}
			live.Call(http.MethodPost, path+"/messages", object{"text": "Hello"}).Refused(t, 409, errs.InvalidState, "")
			w.settle()
			if spent, held := w.spent(); spent != 0 || held != 0 {
				t.Errorf("%d credits are spent, %d holds are left", spent, held)
			}
			live.Call(http.MethodPost, path+"/messages", object{"text": "Hello"}, "Idempotency-Key", "one").Refused(t,
				504, errs.Timeout, "")
			w.model.say = says(architectText("Here"))
			w.send(live, path, "Again")
			if of := w.get(live, path); len(of.Messages) != 3 || of.Messages[2].Text != "Here" {
				t.Errorf("%+v", of.Messages)
			}
		})
	}
}

// Tools read only the data that the caller's key may read.
func TestToolsHaveTheScopesOfTheCaller(t *testing.T) {
	w := newArchitectWorld(t)
	live := w.Live()
	f := w.factory(live)
	path := w.chat(live, "factory_id", f.ID)
	narrow := live.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.ArchitectUse} })
	for _, tool := range []string{"list_factories", "read_factory", "read_analytics", "list_content", "list_products",
		"list_proposals", "list_models"} {
		w.model.say = says(architectCalls(tool, object{}), architectText("No."))
		reply := w.send(narrow, path, "Look")
		result := w.model.asked[len(w.model.asked)-1].Turns
		got := result[len(result)-1].Results[0]
		if !got.Failed || !strings.Contains(string(got.Content), "insufficient_scope") || len(reply.Sources) != 0 {
			t.Errorf("%s returns %s, the sources are %v", tool, got.Content, reply.Sources)
		}
	}
	var all []error
	for tool, want := range map[string]string{
		"list_factories": `"name":"Acme"`, "read_factory": `"language":"de"`, "read_analytics": `"made":0`,
		"list_content": `"content_items":[]`, "list_products": `"products":[]`, "list_proposals": `"proposals":[]`,
	} {
		w.model.say = says(architectCalls(tool, object{}), architectText("Yes."))
		reply := w.send(live, path, "Look")
		turns := w.model.asked[len(w.model.asked)-1].Turns
		if got := turns[len(turns)-1].Results[0]; got.Failed || !strings.Contains(string(got.Content), want) ||
			!slices.Equal(reply.Sources, []string{f.ID}) {
			all = append(all, fmt.Errorf("%s returns %s, the sources are %v", tool, got.Content, reply.Sources))
		}
	}
	if err := errors.Join(all...); err != nil {
		t.Error(err)
	}
}
