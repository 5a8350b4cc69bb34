package area_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const ownerID = "usr_01h455vb4pex5vsknk084sn02q"

// forged returns parts with the lines of an export after a change of each, and with its files.
func (w *transferWorld) forged(e exported, change func(line object)) []transfer.Part {
	w.T.Helper()
	var text bytes.Buffer
	for _, l := range e.lines {
		copied := object{}
		raw, err := json.Marshal(l)
		if err == nil {
			err = json.Unmarshal(raw, &copied)
		}
		if change(copied); err != nil {
			w.T.Fatal(err)
		}
		if err := json.NewEncoder(&text).Encode(copied); err != nil {
			w.T.Fatal(err)
		}
	}
	lines := w.keep("lines-"+transferSum(text.Bytes())[:8], text.String())
	return []transfer.Part{lines, w.archive(func(out *tar.Writer) {
		for name, content := range e.files {
			w.pack(out, name, content)
		}
	})}
}

// archive keeps a tar archive as a part.
func (w *transferWorld) archive(fill func(*tar.Writer)) transfer.Part {
	w.T.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	if fill(out); out.Close() != nil {
		w.T.Fatal("the archive cannot be written")
	}
	return w.keep("files-"+transferSum(b.Bytes())[:8], b.String())
}

func (w *transferWorld) pack(out *tar.Writer, name string, content []byte) {
	w.T.Helper()
	err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
	if err == nil {
		_, err = out.Write(content)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// post returns the line of the generated post of an export.
func (e exported) post() object {
	at := slices.IndexFunc(e.lines, func(l object) bool {
		data, _ := l["data"].(object)
		return l["kind"] == "content_item" && data["kind"] == "post" && data["state"] == "generated" &&
			data["source"] == "generated" && len(listOf(l["files"])) > 0
	})
	return e.lines[at]
}

// B1: an approval, an origin and the models of a line are not believed, and a hash is that of the file.
func TestB1AnImportForgesNoApproval(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	e := w.read(w.export(w.Caller, object{}))
	target := e.post()["id"]
	forge := func(more func(l object)) []transfer.Part {
		return w.forged(e, func(l object) {
			data, _ := l["data"].(object)
			if l["kind"] == "factory" {
				data["approval"] = "required"
			}
			if l["id"] == target {
				data["approval"] = object{"state": "approved", "by": ownerID, "at": "2026-04-01T00:00:00.000Z",
					"note": "Approved by the client in writing", "reasons": []string{}}
				data["ai_generated"], data["source"], data["prompt_version"] = false, "provided", "post.1"
				data["labelled"], data["deep_fake"], data["state"] = true, true, "published"
				data["cost_credits"], data["published_at"] = 900, "2026-04-01T00:00:00.000Z"
				data["publications"] = []object{{"id": "pub_01h455vb4pex5vsknk084sn02q", "state": "published",
					"platform": "telegram", "social_account_id": "soc_01h455vb4pex5vsknk084sn02q"}}
				for _, m := range listOf(data["media"]) {
					m["sha256"], m["bytes"], m["width"] = strings.Repeat("f", 64), 1, 9
					delete(m, "provenance")
				}
				more(l)
			}
		})
	}
	c := w.Stranger()
	i := w.takeParts(c, forge(func(object) {}))
	var got item.Item
	c.Call(http.MethodGet, "/v1/content-items/"+i.Map[target.(string)], nil).Into(t, 200, &got)
	if got.Approval.State != item.ApprovalPending || got.Approval.By != nil || got.Approval.At != nil ||
		got.Approval.Note != nil {
		t.Errorf("the approval is %+v", got.Approval)
	}
	if !got.AIGenerated || got.PromptVersion != "" || got.State != item.Generated || got.PublishedAt != nil ||
		len(got.Publications) != 0 || got.CostCredits != 0 || got.Version != 1 {
		t.Errorf("it is %+v", got)
	}
	for _, m := range got.Media {
		content := w.fetch(m.URL)
		if m.SHA256 != transferSum(content) || m.Bytes != int64(len(content)) || m.Width == 9 {
			t.Errorf("%s of %d bytes is said to be %+v", transferSum(content), len(content), m)
		}
	}
	other := w.Stranger()
	i = w.takeParts(other, forge(func(l object) { listOf(l["files"])[0]["sha256"] = strings.Repeat("f", 64) }))
	if i.Map[target.(string)] != "" || i.Resources["content_item"].LeftOut != 1 {
		t.Errorf("a line with another hash came in: %+v", i.LeftOut)
	}
}

// B2: a second import changes neither an item that is there nor its files, and no import writes over an object.
func TestB2ASecondImportReplacesNoFile(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	e := w.read(w.export(w.Caller, object{}))
	l := e.post()
	c := w.Stranger()
	i := w.takeParts(c, w.forged(e, func(object) {}))
	path := "/v1/content-items/" + i.Map[l["id"].(string)]
	var before, after item.Item
	c.Call(http.MethodGet, path, nil).Into(t, 200, &before)
	name := strings.TrimPrefix(listOf(l["files"])[0]["url"].(string), transfer.FileScheme)
	other := e.files[name]
	for at, content := range e.files {
		if at != name && strings.HasSuffix(at, name[strings.LastIndex(name, "."):]) {
			other = content
		}
	}
	swap := e
	swap.files = map[string][]byte{name: other}
	for what, parts := range map[string][]transfer.Part{
		"another file":             w.forged(swap, func(object) {}),
		"another file in the line": w.forged(swap, func(line object) { renew(line, name, other) }),
	} {
		w.takeParts(c, parts)
		c.Call(http.MethodGet, path, nil).Into(t, 200, &after)
		for n, m := range after.Media {
			if content := w.fetch(m.URL); transferSum(content) != before.Media[n].SHA256 ||
				m.SHA256 != before.Media[n].SHA256 {
				t.Errorf("%s: the file %s was replaced", what, m.ID)
			}
		}
		if after.Version != before.Version {
			t.Errorf("%s: version %d", what, after.Version)
		}
	}
	fresh := w.Stranger()
	f := media.File{Key: fmt.Sprintf("media/%s/test/x/1/1.png", fresh.Principal.Account)}
	for n, want := range []error{nil, media.ErrExists} {
		if err := w.engine.Objects.PutNew(t.Context(), f, strings.NewReader("x")); err != want {
			t.Errorf("store %d: %v", n, err)
		}
	}
}

// renew has a line say that its file is another.
func renew(line object, name string, content []byte) {
	for _, f := range listOf(line["files"]) {
		if f["url"] == transfer.FileScheme+name {
			f["sha256"], f["bytes"] = transferSum(content), len(content)
		}
	}
}

// B5: sparse entries are refused, and what no line names, or has other bytes, is not stored.
func TestB5AnArchiveStoresWhatLinesNameAlone(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	w.in.Entries = 2
	e := w.read(w.export(w.Caller, object{}))
	line := e.post()
	name := strings.TrimPrefix(listOf(line["files"])[0]["url"].(string), transfer.FileScheme)
	lines := w.forged(e, func(object) {})[0]
	video := []byte("WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n")
	c := w.Stranger()
	stored := func() (keys []string) {
		for _, key := range w.engine.Objects.Keys() {
			if strings.Contains(key, string(c.Principal.Account)) && !strings.Contains(key, "/map-") {
				keys = append(keys, key)
			}
		}
		return keys
	}
	sparse := map[string]string{"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": name,
		"GNU.sparse.realsize": "209715200"}
	i := w.takeParts(c, []transfer.Part{lines, w.keep("sparse", sparseArchive(t, sparse))})
	if i.State != transfer.Failed || i.Failure.Code != "invalid_format" || !strings.Contains(i.Failure.Message, "sparse") {
		t.Errorf("a sparse entry: %v, %+v", i.State, i.Failure)
	}
	if keys := stored(); len(keys) != 0 {
		t.Errorf("it stores %v", keys)
	}
	i = w.takeParts(c, []transfer.Part{lines, w.archive(func(out *tar.Writer) {
		for n := range 9 {
			w.pack(out, fmt.Sprintf("media/cnt_01h455vb4pex5vsknk084sn02q/%d/1.vtt", n+1), video)
			w.pack(out, fmt.Sprintf("media/%s/%d/2.vtt", line["id"], n+1), video)
		}
		w.pack(out, name, append(slices.Clone(e.files[name]), 0))
	})})
	if keys := stored(); len(keys) != 0 || i.Files != 0 || i.Map[line["id"].(string)] != "" {
		t.Errorf("it stores %v of %d files", keys, i.Files)
	}
	if n := w.count(quota.BytesKey(c.Principal.Owner)); n != 0 {
		t.Errorf("%d bytes are still counted", n)
	}
}

// sparseArchive returns an archive with a sparse entry of PAX.
func sparseArchive(t *testing.T, records map[string]string) string {
	t.Helper()
	var text string
	for name, value := range records {
		one := fmt.Sprintf(" %s=%s\n", name, value)
		n := len(one) + 2
		text += fmt.Sprintf("%d%s", n, one)
	}
	var b bytes.Buffer
	header := func(kind byte, name string, size int) {
		h := make([]byte, 512)
		copy(h, name)
		copy(h[100:], "0000644\x00")
		copy(h[124:], fmt.Sprintf("%011o\x00", size))
		copy(h[136:], "00000000000\x00")
		h[156] = kind
		copy(h[257:], "ustar\x0000")
		copy(h[148:], "        ")
		total := 0
		for _, one := range h {
			total += int(one)
		}
		copy(h[148:], fmt.Sprintf("%06o\x00 ", total))
		b.Write(h)
	}
	block := func(content string) {
		b.WriteString(content)
		b.Write(make([]byte, (512-len(content)%512)%512))
	}
	header('x', "pax", len(text))
	block(text)
	header('0', "GNUSparseFile.0/a", 512)
	block("1\n0\n0\n")
	b.Write(make([]byte, 1024))
	return b.String()
}

func (w *transferWorld) count(key store.Key) int64 {
	w.T.Helper()
	it, err := w.DB.Lookup(w.T.Context(), key)
	if err != nil {
		w.T.Fatal(err)
	}
	return it.Count()
}

// B10: what the operation that creates a resource would refuse does not come in, and sizes are those of the file.
func TestB10AnImportBelievesNoNumberAndNoAddress(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	e := w.read(w.export(w.Caller, object{}))
	for name, forge := range map[string]struct {
		kind   string
		change func(data object)
	}{
		"spend limit":     {"profile", func(d object) { d["spend_limit_credits"] = -5 }},
		"quote bound":     {"profile", func(d object) { d["quote_required_above_credits"] = -1 }},
		"name":            {"profile", func(d object) { d["name"] = strings.Repeat("a", 101) }},
		"file address":    {"webhook", func(d object) { d["url"] = "file:///etc/passwd" }},
		"private address": {"webhook", func(d object) { d["url"] = "http://10.0.0.1/" }},
		"metadata server": {"webhook", func(d object) { d["url"] = "https://169.254.169.254/" }},
		"event types":     {"webhook", func(d object) { d["event_types"] = []string{"nonsense.*"} }},
		"price":           {"product", func(d object) { d["price"] = object{"amount": -1, "currency": "EUR"} }},
		"page":            {"product", func(d object) { d["url"] = "javascript:alert(1)" }},
		"discount":        {"promotion", func(d object) { d["discount"] = object{"kind": "percent", "value": 500} }},
		"topics":          {"factory", func(d object) { d["topics"] = []string{strings.Repeat("a", 500)} }},
		"days":            {"content_plan", func(d object) { d["days"] = 5000 }},
		"caption":         {"content_item", func(d object) { d["caption"] = strings.Repeat("a", 9000) }},
		"tax id":          {"content_item", func(d object) { d["ad_marking"] = object{"advertiser": "A", "tax_id": "1"} }},
		"count":           {"generation", func(d object) { d["input"] = object{"prompt": "A", "count": 500} }},
	} {
		all := 0
		c := w.Stranger()
		i := w.takeParts(c, w.forged(e, func(l object) {
			if data, ok := l["data"].(object); ok && l["kind"] == forge.kind {
				forge.change(data)
				all++
			}
		}))
		if got := i.Resources[forge.kind]; i.State != transfer.Completed || all == 0 || got.Imported != 0 {
			t.Errorf("%s: %v, %+v of %d, %+v", name, i.State, got, all, i.LeftOut)
		}
	}
	c := w.Stranger()
	i := w.takeParts(c, w.forged(e, func(l object) {
		if data, _ := l["data"].(object); l["kind"] == "media" {
			data["bytes"], data["width"], data["sha256"] = -1, 1, strings.Repeat("0", 64)
		}
	}))
	var m object
	c.Call(http.MethodGet, "/v1/media/"+i.Map[w.media], nil).Into(t, 200, &m)
	if content := w.fetch(m["url"].(string)); m["sha256"] != transferSum(content) || m["bytes"] != float64(len(content)) ||
		m["width"] != 640.0 {
		t.Errorf("the media is %v", m)
	}
}

// B16: no id of the other account stays, of whatever kind.
func TestB16NoIDStays(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	e := w.read(w.export(w.Caller, object{}))
	var kept []string
	for _, prefix := range []string{id.Training, id.Comment, id.Person, id.APIKey, id.Model, id.Quote, id.Experiment,
		id.Account, id.ReviewLink, id.Publication} {
		kept = append(kept, prefix+"_01h455vb4pex5vsknk084sn02q")
	}
	c := w.Stranger()
	w.takeParts(c, w.forged(e, func(l object) {
		data, _ := l["data"].(object)
		switch l["kind"] {
		case "content_item":
			data["prompt"], data["from_content_item_id"], data["product_id"] = kept[0], kept[1], kept[2]
			data["content_plan_id"], data["promotion_id"], data["hooks"] = kept[3], kept[4], kept[5:]
		case "webhook":
			data["created_by"] = kept[2]
		case "content_plan":
			data["quote_id"], data["experiment_id"] = kept[5], kept[6]
		}
	}))
	text := w.read(w.export(c, object{})).text
	for _, one := range kept {
		if strings.Contains(text, one) {
			t.Errorf("%s is still there", one)
		}
	}
}

// slow is an importer whose files take all the time of its function, and the objects that they are read from.
type slow struct {
	*transfer.Importer
	transfer.Objects
	end func()
}

// Range implements transfer.Objects.
func (s *slow) Range(ctx context.Context, _ string, _, _ int64) (io.ReadCloser, error) {
	s.end()
	return nil, ctx.Err()
}

// Step implements task.Handler. A function whose time is used up has no outcome.
func (s *slow) Step(ctx context.Context, step *task.Step) (task.Outcome, error) {
	ctx, s.end = context.WithCancel(ctx)
	defer s.end()
	o, err := task.Func(s.Importer.Import).Step(ctx, step)
	if ctx.Err() != nil {
		return task.Outcome{}, task.ErrMoved
	}
	return o, err
}

// A step that uses up its function three times ends the import, which says so.
func TestAnImportEndsAfterThreeDeaths(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	e := w.read(w.export(w.Caller, object{}))
	taken := &slow{Importer: w.in, Objects: w.in.Objects}
	w.in.Objects = taken
	w.engine.Handle(transfer.ImportKind, taken)
	i := w.takeParts(w.Stranger(), w.forged(e, func(object) {}))
	if i.State != transfer.Failed || i.Failure == nil || i.Failure.Code != "unreadable" ||
		!strings.Contains(i.Failure.Message, "3 times") {
		t.Errorf("%v, %+v", i.State, i.Failure)
	}
}

// Each member of what an import takes has a rule, and each rule has a member.
func TestEachMemberHasARule(t *testing.T) {
	for name, members := range transfer.Members() {
		for _, m := range members {
			if m.Rule == "" {
				t.Errorf("%s of %s has no rule: does it come in, is it computed anew, or reset?", m.Path, name)
			}
			for _, never := range []string{"approval", "version", "created_by", "publications", "sha256", "bytes",
				"cost_credits", "reserved_credits", "ai_generated", "expires_at", "updated_at", "profile_id"} {
				named := m.Path == never && name != "factory" || strings.HasSuffix(m.Path, "."+never)
				if named && m.Rule == transfer.ComesIn {
					t.Errorf("%s of %s comes in", m.Path, name)
				}
			}
		}
		if unknown := transfer.Unknown(name); len(unknown) > 0 {
			t.Errorf("%s has no members %v", name, unknown)
		}
	}
}

// The parts of an import count for the storage of its account before they are stored.
func TestAnImportHasRoomInTheStorage(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	x := w.export(w.Caller, object{})
	c := w.Stranger()
	tx := &store.Tx{}
	tx.Count(quota.BytesKey(c.Principal.Owner), 25<<30-1000, 1<<40, store.ErrConflict)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	i := w.take(c, x)
	if i.State != transfer.Failed || i.Failure.Code != "storage_full" {
		t.Errorf("%v, %+v", i.State, i.Failure)
	}
	if n := w.count(quota.BytesKey(c.Principal.Owner)); n != 25<<30-1000 {
		t.Errorf("%d bytes are counted", n)
	}
}

// The files of an imported item count until they are removed.
func TestImportedFilesCountUntilTheyAreRemoved(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	e := w.read(w.export(w.Caller, object{}))
	c := w.Stranger()
	i := w.takeParts(c, w.forged(e, func(object) {}))
	total := int64(0)
	for _, content := range e.files {
		total += int64(len(content))
	}
	key := quota.BytesKey(tenant.Of(c.Principal.Account, c.Principal.Mode))
	if n := w.count(key); n != total {
		t.Errorf("%d bytes are counted, want %d", n, total)
	}
	removed := int64(0)
	for _, f := range listOf(e.post()["files"]) {
		removed += int64(f["bytes"].(float64))
	}
	c.Call(http.MethodDelete, "/v1/content-items/"+i.Map[e.post()["id"].(string)], nil).Into(t, 200, new(object))
	w.engine.Drain()
	w.Clock.Add(time.Hour)
	if n := w.count(key); n != total-removed {
		t.Errorf("%d bytes are counted, want %d", n, total-removed)
	}
}
