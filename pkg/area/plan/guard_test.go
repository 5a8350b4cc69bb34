package plan

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/task"
)

// A topic that states what neither the plan nor the factory has is asked for again: its item would take it for true.
func TestInventedTopicsAreRefused(t *testing.T) {
	recipe := &item.Record{Item: item.Item{Language: "en"}, Brief: item.Brief{Voice: "A shop for shoes.",
		Forbidden: []string{"cheap"}}}
	j := &job{Run: &task.Run{Step: &task.Step{}},
		slots:  []Slot{{At: time.Unix(0, 0), Type: "post"}, {Type: "post"}, {Type: "post"}},
		places: make([]place, 3), recipe: Recipe{Items: map[string]*item.Record{"post": recipe}}}
	j.plan.Items.Total, j.plan.Brief = 3, "Free delivery until 24 December"
	answer := []byte(`{"topics":[{"slot":1,"topic":"Order by December 24th","angle":"how we pack","hook":"Tape, again"},
		{"slot":2,"topic":"Thirty percent off all boots","angle":"a sale","hook":"Half the street is here"},
		{"slot":3,"topic":"Cheap is not the word","angle":"what shoes cost","hook":"Look at the sole"}]}`)
	if err := j.take(answer, nil); err != nil || len(j.Topics) != 1 || j.Topics[1] == "" || len(j.RefusedTopics) != 2 {
		t.Errorf("chosen %v, refused %v, %v", j.Topics, j.RefusedTopics, err)
	}
	// The texts of the sandbox are written by hand.
	j.Mode, j.Topics, j.RefusedTopics = tenant.Test, nil, nil
	if err := j.take(answer, nil); err != nil || len(j.Topics) != 3 {
		t.Errorf("with a test key: chosen %v, refused %v, %v", j.Topics, j.RefusedTopics, err)
	}
}
