package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/testdata/platforms/telegram"
)

// exported fills a sandbox with a month of posts, and returns the names of the files of its export.
func exported(t *testing.T) string {
	t.Helper()
	b := newBox(t, "--port", "0", "--seed", "5", "--now", noon)
	factory := b.call(http.StatusCreated, "POST", "/v1/factories", object{"type": "brand", "name": "Acme",
		"settings": object{"brand_name": "Acme"}})["id"].(string)
	account := b.call(http.StatusCreated, "POST", "/v1/social/accounts", object{"platform": "telegram",
		"bot_token": telegram.Token, "channel": telegram.Channel})["id"].(string)
	b.call(http.StatusOK, "PUT", "/v1/factories/"+factory+"/social-accounts/"+account, nil)
	b.call(http.StatusCreated, "POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/customer",
		"event_types": []string{"content.*"}})
	for day, at := range []string{"", "2026-05-03T18:00:00Z", "2026-05-17T08:30:00Z", "2026-05-29T20:15:00Z"} {
		id := b.call(http.StatusAccepted, "POST", items, object{"factory_id": factory, "kind": "post",
			"prompt": fmt.Sprintf("Day %d of the shoe", day)})["id"].(string)
		if at == "" {
			b.call(http.StatusAccepted, "POST", items+"/"+id+"/publish", object{"social_account_ids": []string{account}})
			continue
		}
		b.call(http.StatusOK, "POST", items+"/"+id+"/schedule", object{"publish_at": at,
			"social_account_ids": []string{account}})
	}
	id := b.call(http.StatusAccepted, "POST", "/v1/exports", object{})["id"].(string)
	x := b.call(http.StatusOK, "GET", "/v1/exports/"+id, nil)
	if x["state"] != "completed" {
		t.Fatalf("the export is %v", x)
	}
	var names []string
	for i, p := range x["parts"].([]any) {
		name := filepath.Join(t.TempDir(), fmt.Sprintf("part-%d", i))
		if err := os.WriteFile(name, []byte(get(t, p.(object)["url"].(string))), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	b.stop()
	return strings.Join(names, ",")
}

// replay opens the export, and returns all that the sandbox has said and sent in its month.
func replay(t *testing.T, port, files, seed string, to *receiver) string {
	t.Helper()
	b := newBox(t, "--port", port, "--seed", seed, "--now", noon, "--import", files, "--webhooks", to.URL,
		"--play", "744h")
	to.listen(b)
	b.note(&b.answers, "%s", b.lines())
	in := b.call(http.StatusOK, "GET", "/v1/imports/"+b.Import, nil)
	if in["state"] != "completed" || len(in["left_out"].([]any)) > 0 || in["missing_file_count"] != 0.0 {
		t.Fatalf("the import is %v", in)
	}
	all := b.call(http.StatusOK, "GET", items, nil)["all"].([]any)
	if len(all) != 4 {
		t.Errorf("there are %d items", len(all))
	}
	for _, one := range all {
		for _, p := range one.(object)["publications"].([]any) {
			b.note(&b.answers, "%v\n", p.(object)["published_at"])
		}
		if one.(object)["state"] != "published" {
			t.Errorf("after the month an item is %v", one.(object)["state"])
		}
		for _, f := range one.(object)["media"].([]any) {
			get(t, f.(object)["url"].(string))
		}
	}
	b.call(http.StatusOK, "GET", "/v1/events?limit=100", nil)
	b.stop()
	return b.heard()
}

// The sandbox opens an export and publishes its month again, to the same webhooks, with the same bytes for a seed.
func TestAnExportIsReplayed(t *testing.T) {
	files, port, to := exported(t), freePort(t), newReceiver(t)
	first := replay(t, port, files, "7", to)
	if n := strings.Count(first, `"type":"content.published"`); n < 8 { // four as webhooks, four as events
		t.Errorf("content.published was told %d times", n)
	}
	for _, day := range []string{"2026-05-01T12:0", "2026-05-03T18:00", "2026-05-17T08:30", "2026-05-29T20:15"} {
		if !strings.Contains(first, "\n"+day) {
			t.Errorf("nothing was published at %s", day)
		}
	}
	if strings.Contains(first, "127.0.0.1:9/customer") {
		t.Error("the address of the customer is called")
	}
	if again := replay(t, port, files, "7", to); again != first {
		was, is := strings.Split(first, "\n"), strings.Split(again, "\n")
		for i := range min(len(was), len(is)) {
			if was[i] != is[i] {
				t.Fatalf("line %d was\n%s\nand is\n%s", i, was[i], is[i])
			}
		}
		t.Fatalf("there were %d lines, and are %d", len(was), len(is))
	}
}
