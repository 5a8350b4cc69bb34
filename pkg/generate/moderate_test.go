package generate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
)

// moderator is a moderator whose answers a test decides. It counts the texts.
type moderator struct {
	texts  []string
	answer func(n int) (bool, error)
}

// Moderate implements provider.Moderator.
func (m *moderator) Moderate(_ context.Context, text string) (bool, error) {
	m.texts = append(m.texts, text)
	return m.answer(len(m.texts))
}

// Publishes implements generate.Moderated.
func (w *thingWork) Publishes(_ int, made generate.PartResult) string {
	if made.Text == nil {
		return ""
	}
	return made.Text.Title
}

// A text that is flagged is written anew once, and fails the work without a charge the second time.
func TestFlaggedTextsAreNotUsed(t *testing.T) {
	for flags, state := range map[int]string{0: "generated", 1: "generated", 2: "failed"} {
		w := newWorld(t)
		m := &moderator{answer: func(n int) (bool, error) { return n <= flags, nil }}
		w.worker.Moderator = m
		var repairs []*provider.Repair
		w.fake.write = func(req provider.Request) (provider.Text, error) {
			repairs = append(repairs, req.Repair)
			return provider.Text{Title: "title"}, nil
		}
		w.accept("thing_1")
		w.drain()
		v := w.ended("thing_1", state)
		if len(m.texts) != min(flags+1, 2) || len(repairs) != len(m.texts) || m.texts[0] != "title" ||
			flags > 0 && repairs[1] == nil || state == "failed" && v.Failure.Code != provider.FailedFlagged {
			t.Errorf("%d flags: %d moderated, %d written, %+v", flags, len(m.texts), len(repairs), v.Failure)
		}
		w.settled(map[string]int64{"generated": 10}[state])
	}
}

// While the moderator cannot be reached, the text waits, and nothing is written anew. Then the work fails without a
// charge: no text is used that was not moderated.
func TestTextsWaitForTheModerator(t *testing.T) {
	for _, down := range []error{errors.New("no answer"), error(provider.FailureOf(provider.FailedAccess)),
		&provider.Error{Kind: provider.Transient, Code: "provider_busy", Message: "Later."}} {
		for failures, state := range map[int]string{3: "generated", 1000: "failed"} {
			w := newWorld(t)
			m := &moderator{answer: func(n int) (bool, error) {
				if n <= failures {
					return false, down
				}
				return false, nil
			}}
			w.worker.Moderator = m
			written := 0
			w.fake.write = func(provider.Request) (provider.Text, error) {
				written++
				return provider.Text{Title: "title"}, nil
			}
			w.accept("thing_1")
			w.drain()
			v := w.ended("thing_1", state)
			if written != 1 || len(m.texts) > 10 || state == "failed" &&
				(v.Failure.Code != provider.FailedProviderUnavailable || !v.Failure.Retryable) {
				t.Errorf("%v: %d written, %d moderations, %+v", down, written, len(m.texts), v.Failure)
			}
			w.settled(map[string]int64{"generated": 10}[state])
		}
	}
}
