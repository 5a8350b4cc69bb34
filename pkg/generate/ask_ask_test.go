package generate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/ask"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// model answers with a word each time, fails, or dies.
type model struct {
	provider.Provider
	answers []any // a word, an error, or a function to call
	asked   []provider.Request
}

func (m *model) For(string, tenant.Mode) (provider.Provider, error) { return m, nil }
func (m *model) Capabilities() provider.Capabilities                { return provider.Capabilities{} }

func (m *model) Submit(_ context.Context, req provider.Request) (provider.Submission, error) {
	m.asked = append(m.asked, req)
	next := m.answers[0]
	m.answers = m.answers[1:]
	switch next := next.(type) {
	case error:
		return provider.Submission{}, next
	case func():
		next()
	}
	answer, err := json.Marshal(map[string]any{"word": next})
	return provider.Submission{Result: &provider.Result{Object: answer}}, err
}

// talk has a task ask the model for three words, of which none is wrong, and returns the words, and the error with
// which the model was asked no more.
func talk(t *testing.T, m *model) (words []string, end error) {
	t.Helper()
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	tx, message := &store.Tx{}, task.Message{ID: "task#1", Kind: "ask", Queue: topology.Diagnose, Subject: "thing",
		Owner: tenant.Of("acc_1", tenant.Test)}
	if err := errors.Join(task.Create(tx, clock.Now(), task.Task{Message: message}, struct{}{}),
		db.Commit(t.Context(), tx)); err != nil {
		t.Fatal(err)
	}
	f := task.Func(func(ctx context.Context, r *task.Run) (err error) {
		words, err = ask.Talk[[]string]{Models: m, Name: "words", Questions: 4, Failures: 3,
			NextQuestion: func(_ context.Context, known []string) (ask.Question, error) {
				return ask.Question{Model: catalog.Default(provider.KindText).ID, Language: fmt.Sprint(known)}, nil
			},
			Take: func(known *[]string, answer json.RawMessage) (bool, error) {
				var form struct{ Word string }
				if err := json.Unmarshal(answer, &form); err != nil {
					return false, err
				}
				if form.Word != "wrong" {
					*known = append(*known, form.Word)
				}
				return len(*known) == 3, nil
			}}.In(ctx, r)
		if task.Waits(err) {
			return err
		}
		end = err
		return r.End(func(context.Context, *store.Tx) error { return nil })
	})
	names := 0
	for range 20 {
		it, err := db.Get(t.Context(), store.IDKey("task#1"))
		var now task.Task
		if err := errors.Join(err, it.Decode(&now)); err != nil {
			t.Fatal(err)
		}
		if task.Over(it) {
			return words, end
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = task.NewKernel(task.Config{DB: db, Handlers: map[task.Kind]task.Handler{"ask": f}, Now: clock.Now,
				Chance: func() float64 { return 0 }, Name: func() string { names++; return fmt.Sprint("name-", names) },
			}).Do(t.Context(), now.Message, "")
		}()
		clock.Add(2 * time.Minute)
	}
	t.Fatal("the task does not end")
	return nil, nil
}

func TestAModelIsAskedUntilItHasAnswered(t *testing.T) {
	dies, silent := func() { panic("killed") }, errors.New("connection reset")
	refused := &provider.Error{Kind: provider.Rejected, Code: "content_policy", Message: "No."}
	busy := &provider.Error{Kind: provider.Transient, Code: provider.CodeBusy, Message: "Later."}
	for name, c := range map[string]struct {
		answers []any
		words   []string
		ends    bool // well
	}{
		"well":                    {[]any{"a", "b", "c"}, []string{"a", "b", "c"}, true},
		"with one that is wrong":  {[]any{"a", "wrong", "b", "c"}, []string{"a", "b", "c"}, true},
		"not enough":              {[]any{"a", "wrong", "wrong", "b"}, []string{"a", "b"}, true},
		"after some failures":     {[]any{"a", silent, silent, "b", silent, silent, "c"}, []string{"a", "b", "c"}, true},
		"too many failures":       {[]any{"a", silent, silent, silent}, []string{"a"}, false},
		"refused":                 {[]any{"a", "b", refused}, []string{"a", "b"}, false},
		"busy":                    {[]any{busy, busy, busy, busy, "a", "b", "c"}, []string{"a", "b", "c"}, true},
		"a function dies":         {[]any{"a", dies, "b", "c"}, []string{"a", "b", "c"}, true},
		"the last function dies":  {[]any{"a", "b", dies, dies}, []string{"a", "b"}, false},
		"an answer of other form": {[]any{"a", 1, "b", "c"}, []string{"a", "b", "c"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{answers: c.answers}
			words, err := talk(t, m)
			if !slices.Equal(words, c.words) || c.ends != (err == nil) || len(m.answers) > 0 {
				t.Errorf("%v, %v, %d answers are left", words, err, len(m.answers))
			}
			if asked := m.asked[len(m.asked)-1].Language; name == "well" && asked != "[a b]" {
				t.Errorf("the last question is about %s", asked)
			}
		})
	}
}
