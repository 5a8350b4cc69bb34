package store_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

func TestNotesOfSeveralLieSideBySide(t *testing.T) {
	db, faults, clock := faulty(t)
	key, until := store.Key{PK: "notes", SK: "1"}, clock.Now().Add(time.Hour)
	note := func(extra map[string]string) {
		t.Helper()
		if err := db.Note(t.Context(), store.Item{Key: key, Kind: "note", ExpireAt: until,
			Attributes: extra}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want map[string]string) {
		t.Helper()
		it, err := db.Get(t.Context(), key)
		if err != nil || it.Kind != "note" || !it.ExpireAt.Equal(until) || !reflect.DeepEqual(it.Attributes, want) {
			t.Errorf("there is %+v, %v; want %v", it, err, want)
		}
	}
	note(map[string]string{"one": "1"})
	check(map[string]string{"one": "1"})
	until = until.Add(time.Minute)
	note(map[string]string{"two": "2", "three": "3"})
	check(map[string]string{"one": "1", "two": "2", "three": "3"})
	note(map[string]string{"two": "22", "one": "", "three": "", "never": ""})
	check(map[string]string{"two": "22"})
	faults.Reject("UpdateItem", "ThrottlingException", 100)
	if err := db.Note(t.Context(),
		store.Item{Key: key, Kind: "note", ExpireAt: until}); errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Errorf("it gives %v", err)
	}
}
