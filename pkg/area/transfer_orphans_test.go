package area_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// B5: an object that no record has is found, and one of a resource that is there is none.
func TestObjectsWithoutARecordAreFound(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	o := w.Principal.Owner
	compare := func(after time.Duration) (r transfer.Comparison) {
		t.Helper()
		w.Clock.Add(24 * time.Hour)
		w.engine.Handle(transfer.CompareKind, task.Func((&transfer.Comparer{DB: w.DB, Objects: w.engine.Objects,
			Now: func() time.Time { return time.Time{}.Add(after) }}).Compare))
		for range 2 { // the second of a day does nothing
			if err := transfer.Compare(t.Context(), w.DB, w.Now()); err != nil {
				t.Fatal(err)
			}
		}
		w.engine.Drain()
		day := w.Now().UTC().Format(time.DateOnly)
		it, err := w.DB.Get(t.Context(), store.IDKey(task.ID(transfer.CompareKind, day, 1)))
		if err != nil {
			t.Fatal(err)
		}
		var done task.Task
		if err := it.Decode(&done); err != nil {
			t.Fatal(err)
		}
		var p struct {
			Memory struct {
				Compared struct{ Result transfer.Comparison }
			}
		}
		if err := json.Unmarshal(done.Payload, &p); err != nil {
			t.Fatal(err)
		}
		return p.Memory.Compared.Result
	}
	if r := compare(30 * 24 * time.Hour); r.Objects < 15 || r.Orphans != 0 {
		t.Errorf("%+v", r)
	}
	for n, place := range []string{string(o.Account) + "/" + string(o.Mode) + "/cnt_01h455vb4pex5vsknk084sn02q",
		"acc_2/live/" + w.media} {
		f := media.File{Key: fmt.Sprintf("media/%s/1/%d.png", place, n)}
		if err := w.engine.Objects.Put(t.Context(), f, strings.NewReader("four")); err != nil {
			t.Fatal(err)
		}
	}
	if r := compare(30 * 24 * time.Hour); r.Orphans != 2 || r.Bytes != 8 {
		t.Errorf("%+v", r)
	}
	if r := compare(time.Hour); r.Orphans != 0 {
		t.Errorf("objects of today: %+v", r)
	}
}
