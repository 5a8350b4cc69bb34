package record_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

func TestTheAccountsOfAFactoryChangeAlone(t *testing.T) {
	doc := `{"id":"fac_1","created_at":"2026-05-01T09:00:00.000Z","updated_at":"2026-05-01T09:00:00.000Z","version":3,"metadata":{"a":"b"},"settings":{"price":12345678901234567890},"social_account_ids":["soc_1"]}`
	it := store.Item{Doc: json.RawMessage(doc), Version: 3}
	now := time.Date(2026, 5, 2, 9, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		change  func(*store.Item, string, time.Time) (bool, error)
		account string
		changed bool
		want    []string
	}{
		{factoryrecord.Attach, "soc_1", false, []string{"soc_1"}},
		{factoryrecord.Detach, "soc_2", false, []string{"soc_1"}},
		{factoryrecord.Attach, "soc_2", true, []string{"soc_1", "soc_2"}},
		{factoryrecord.Detach, "soc_1", true, []string{"soc_2"}}, {factoryrecord.Detach, "soc_2", true, []string{}},
	} {
		changed, err := step.change(&it, step.account, now)
		got, failed := factoryrecord.Accounts(&it)
		if err != nil || failed != nil || changed != step.changed || !slices.Equal(got, step.want) {
			t.Errorf("%s: changed %v, %v, to %v", step.account, changed, err, got)
		}
	}
	want := `{"created_at":"2026-05-01T09:00:00.000Z","id":"fac_1","metadata":{"a":"b"},"settings":{"price":12345678901234567890},"social_account_ids":[],"updated_at":"2026-05-02T09:00:00.000Z","version":6}`
	if string(it.Doc) != want {
		t.Errorf("the document is %s", it.Doc)
	}
}
