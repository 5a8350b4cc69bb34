package generate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
)

var unreadable = &provider.Error{Kind: provider.Transient, Code: "text_unreadable", Message: "No.",
	Cause: &provider.Unreadable{Answer: `{"title"`, Reason: errors.New("there is no caption")}}

// An answer that cannot be read, or that the work refuses, is mended once, and the customer pays for one text.
func TestAnswersAreMendedOnce(t *testing.T) {
	w := newWorld(t)
	var repairs []*provider.Repair
	w.fake.write = func(req provider.Request) (provider.Text, error) {
		repairs = append(repairs, req.Repair)
		switch len(repairs) {
		case 1:
			return provider.Text{}, unreadable
		case 2:
			return provider.Text{Title: "forbidden"}, nil
		}
		return provider.Text{Title: "title"}, nil
	}
	w.accept("thing_1")
	w.drain()
	if v := w.ended("thing_1", "generated"); v.Made[0].Text.Title != "title" {
		t.Errorf("%+v", v.Made)
	}
	w.settled(10)
	if len(repairs) != 3 || repairs[0] != nil || repairs[1].Answer != `{"title"` ||
		repairs[1].Problems[0] != "there is no caption" || !strings.Contains(repairs[2].Answer, "forbidden") ||
		repairs[2].Problems[0] != "the title is forbidden" {
		t.Errorf("the writer was asked with %+v", repairs)
	}
}

func TestATextThatIsRefusedAgainFailsTheWork(t *testing.T) {
	w := newWorld(t)
	w.fake.write = func(provider.Request) (provider.Text, error) { return provider.Text{Title: "forbidden"}, nil }
	w.accept("thing_1")
	w.drain()
	if v := w.ended("thing_1", "failed"); v.Failure.Code != "forbidden_title" ||
		v.Failure.Message != "Choose another title. Nothing was charged." || len(w.fake.submissions) != 2 {
		t.Errorf("%+v after %d", v.Failure, len(w.fake.submissions))
	}
	w.settled(0)
}

// Check implements generate.Checking.
func (w *thingWork) Check(_ context.Context, _ *store.DB, _ time.Time, t provider.Text) (*generate.Refusal, error) {
	if t.Title != "forbidden" {
		return nil, nil
	}
	return &generate.Refusal{Code: "forbidden_title", Problems: []string{"the title is forbidden"},
		Message: "Choose another title."}, nil
}

// A text that the guard of the provider flags is written anew once.
func TestAFlaggedTextIsWrittenAnewOnce(t *testing.T) {
	for flags, state := range map[int]string{1: "generated", 2: "failed"} {
		w := newWorld(t)
		asked := 0
		w.fake.write = func(provider.Request) (provider.Text, error) {
			if asked++; asked <= flags {
				return provider.Text{}, provider.FailureOf(provider.FailedFlagged)
			}
			return provider.Text{Title: "title"}, nil
		}
		w.accept("thing_1")
		w.drain()
		if v := w.ended("thing_1", state); asked != 2 || state == "failed" && v.Failure.Code != provider.FailedFlagged {
			t.Errorf("%d flags: asked %d times, %+v", flags, asked, v.Failure)
		}
		w.settled(map[string]int64{"generated": 10}[state])
	}
}
