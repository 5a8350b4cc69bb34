package metered

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/service/api"
)

// TestMain keeps the log of the functions out of the tests' output.
func TestMain(m *testing.M) {
	Quiet()
	m.Run()
}

// filled creates a world that is closed at the end of the test.
func filled(t *testing.T, with ...func(*aws.Config)) *World {
	t.Helper()
	w, err := New(t.Context(), with...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestNoExampleIsOfAnUnknownOperation(t *testing.T) {
	known := map[string]bool{}
	for _, r := range api.Routes() {
		known[r.OperationID] = true
	}
	for operation := range maps.Keys((&World{}).Examples()) {
		if !known[operation] {
			t.Errorf("there is no operation %s", operation)
		}
	}
}

func TestACallThatFailsSaysWhy(t *testing.T) {
	w := filled(t)
	_, err := w.Call(t.Context(), Request{Operation: "createFactory", Body: Object{"type": "bakery"}})
	if err == nil || !strings.Contains(err.Error(), "createFactory answers 422, not 201") ||
		!strings.Contains(err.Error(), "validation_failed") {
		t.Errorf("got %v", err)
	}
	if _, err := w.Call(t.Context(), Request{Operation: "flyAway"}); err == nil ||
		!strings.Contains(err.Error(), `"flyAway"`) {
		t.Errorf("got %v", err)
	}
}
