package item

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
)

var _ generate.Writing = (*work)(nil)

// Write implements generate.Writing.
func (w *work) Write(ctx context.Context, n int, made []generate.PartResult,
	ask generate.Asker) (m generate.PartResult, err error) {
	w.maker.settle(made)
	switch p := w.record.Attempt.Parts[n]; p.Role {
	case roleExcerpt:
		return w.chooseScenes(ctx, ask)
	case roleAdapt:
		return ask.Ask(ctx, generate.First, generate.Question{
			Request: func(ctx context.Context, db *store.DB) (provider.Request, error) {
				if err := w.recall(ctx, db); err != nil {
					return provider.Request{}, err
				}
				w.maker.write(made) // of a copy of the item, which is read anew for each step
				req, err := w.writer.adaptRequest(provider.Text{Title: string(w.record.Item.Title),
					Caption:  string(w.record.Item.Caption),
					Hashtags: w.record.Item.Hashtags})
				return w.withRehearsal(req), err
			},
			Publishes: func(m generate.PartResult) string { return string(m.Object) },
		})
	default:
		m.Text, err = (&texting{w, p, ask}).write(ctx)
		return m, err
	}
}

// LeavesOut implements generate.Writing: scenes that were not chosen are not copied.
func (w *work) LeavesOut(n int, made []generate.PartResult) bool {
	w.maker.settle(made)
	return w.maker.leftOut(w.record.Attempt.Parts[n])
}

// chooseScenes has the model choose scenes of a long video for a short one. Without an answer, they are chosen by their
// length.
func (w *work) chooseScenes(ctx context.Context, ask generate.Asker) (generate.PartResult, error) {
	if !w.record.Attempt.Excerpt.ScenesRead {
		return generate.PartResult{}, ask.Read(ctx, false,
			func(ctx context.Context, db *store.DB, _ time.Time) (func(generate.Work), error) {
				used, err := usedScenes(ctx, db, w.item.Owner, w.record)
				return func(other generate.Work) {
					e := other.(*work).record.Attempt.Excerpt
					e.UsedScenes, e.ScenesRead = used, true
				}, err
			})
	}
	return ask.Ask(ctx, generate.First, generate.Question{
		Optional: true,
		Request: func(context.Context, *store.DB) (provider.Request, error) {
			return w.withRehearsal(w.writer.excerptRequest()), nil
		},
		Check: func(_ context.Context, _ *store.DB, _ time.Time, m generate.PartResult) (*generate.Refusal, error) {
			if _, problems := w.writer.chosenScenes(m.Object); len(problems) > 0 {
				return &generate.Refusal{Code: "object", Problems: problems, HeldForApproval: true}, nil
			}
			return nil, nil
		},
	})
}

// texting is the writing of the texts of an item.
type texting struct {
	work *work
	part part
	ask  generate.Asker
}

// write writes the texts of an item: a draft, in the best quality a second one, of which the better one goes on, a
// second look at it, and a text without the problems that were found, unless the draft is better. The qualities decide
// which of the questions the part has. A text can do without an answer to any but the first.
func (t *texting) write(ctx context.Context) (*provider.Text, error) {
	if t.work.unread() {
		return nil, t.ask.Read(ctx, true, t.work.readSources)
	}
	best, err := t.draft(ctx, generate.First, nil, func(*provider.Request) {})
	if err != nil {
		return nil, err
	}
	second, err := t.draft(ctx, askSecond, best, func(req *provider.Request) {
		t.work.writer.askAnother(req, hookOf(best))
	})
	if err != nil {
		return best, err
	}
	if second != nil {
		better, err := t.compare(ctx, askChoose, askChooseBack, best, second, best)
		if err != nil {
			return best, err
		}
		if better > 0 {
			best = second
		}
	}
	verdict, err := t.review(ctx, best)
	if err != nil || verdict == nil || verdict.Passes(t.work.record.Item.Quality == QualityBest) {
		return best, err
	}
	again, err := t.draft(ctx, askRewrite, best, func(req *provider.Request) {
		answer, _ := json.Marshal(best) // it has texts only
		req.Repair = &provider.Repair{Answer: string(answer), Problems: verdict.Problems}
	})
	if err != nil || again == nil {
		return best, err
	}
	better, err := t.compare(ctx, askCompare, askCompareBack, best, again, again)
	if better < 0 {
		return best, err
	}
	return again, err
}

// question returns a question about the texts. present is the text that there is, or nil, and tell changes the request
// for a draft to what is asked.
func (t *texting) question(present *provider.Text, tell func(*provider.Request)) generate.Question {
	return generate.Question{Optional: present != nil,
		Request: func(ctx context.Context, db *store.DB) (req provider.Request, err error) {
			if err := t.work.recall(ctx, db); err != nil {
				return req, err
			}
			text := provider.Text{}
			if present != nil {
				text = *present
			}
			if err := t.work.writer.checkWritten(t.work.writer.withScript(text)); err != nil {
				return req, err
			}
			req = t.work.writer.foreseen(t.part)
			tell(&req)
			return t.work.withRehearsal(req), nil
		}}
}

// draft returns a text that a model has written and that the guards accept, or nil.
func (t *texting) draft(ctx context.Context, name string, present *provider.Text,
	tell func(*provider.Request)) (*provider.Text, error) {
	q := t.question(present, tell)
	q.Check, q.Publishes = t.work.check, t.work.publishes
	made, err := t.ask.Ask(ctx, name, q)
	return made.Text, err
}

// review returns the result of a second look at a text, or nil if there is none.
func (t *texting) review(ctx context.Context, text *provider.Text) (*prompt.Verdict, error) {
	made, err := t.ask.Ask(ctx, askReview, t.question(text, func(req *provider.Request) {
		t.work.writer.judge(req, *text)
	}))
	if err != nil || made.Object == nil {
		return nil, err
	}
	v, unreadable := prompt.ParseVerdict(made.Object)
	if unreadable != nil {
		return nil, nil
	}
	return &v, nil
}

// compare returns which of two texts is better in both orders: 1 if it is the later one, -1 the earlier one, and 0 if
// the answers contradict each other, or one is missing.
func (t *texting) compare(ctx context.Context, order, back string, earlier, later,
	present *provider.Text) (better int, err error) {
	for _, c := range []struct {
		name, later string
		a, b        *provider.Text
	}{{order, "b", earlier, later}, {back, "a", later, earlier}} {
		made, err := t.ask.Ask(ctx, c.name, t.question(present, func(req *provider.Request) {
			t.work.writer.compare(req, *c.a, *c.b)
		}))
		if err != nil {
			return 0, err
		}
		if choice, unreadable := prompt.ParseChoice(made.Object); unreadable == nil {
			better += map[bool]int{true: 1, false: -1}[choice.Better == c.later]
		}
	}
	return better / 2, nil
}

// hookOf returns the chosen first line of a text, or "" if it has none.
func hookOf(t *provider.Text) string {
	if t.Hook > 0 && t.Hook <= len(t.Hooks) {
		return t.Hooks[t.Hook-1]
	}
	return ""
}

// recall reads what the prompt says about the channel.
func (w *work) recall(ctx context.Context, db *store.DB) (err error) {
	if w.writer.memory, err = recall(ctx, db, w.item.Owner, w.record); err != nil {
		w.writer.memory = nil
	}
	return err
}

// publishes returns the texts of an answer that readers see or hear.
func (w *work) publishes(m generate.PartResult) string {
	var all []string
	for _, f := range w.writer.fields(*m.Text) {
		all = append(all, f.Text)
	}
	return strings.Join(all, "\n")
}
