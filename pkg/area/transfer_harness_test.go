package area_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/feed"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	wiring "github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// transferWorld is an account with one of everything that an export has, and workers.
type transferWorld struct {
	*servicetest.World
	engine *generatetest.Engine
	out    *transfer.Exporter
	in     *transfer.Importer
	// webhook, secret, factory and media are of the account.
	secret, factory, seller, media, profile, template string
}

func newTransferWorld(t *testing.T) *transferWorld {
	t.Helper()
	w := &transferWorld{World: servicetest.New(t)}
	files := &generatetest.Objects{}
	signer := apitest.Signer(t, w.Now, func(c *aws.Config) { c.HTTPClient = files })
	offer := catalog.NewOffer("bedrock,fal,elevenlabs", "us-west-2", nil)
	factories := factory.NewService(w.DB, w.Now)
	envelope := sealtest.Envelope("secret")
	w.Serve(factories,
		content.NewService(w.DB, factories, signer, offer, w.Now),
		studio.NewService(w.DB, signer, nil, offer, w.Now),
		mediaarea.NewService(w.DB, signer, nil, w.Now), planarea.NewService(w.DB, factories, offer, w.Now),
		product.NewService(w.DB, signer, nil, w.Now), product.NewPromotions(w.DB, w.Now),
		feed.NewService(w.DB, signer, files, w.Now),
		profile.NewService(w.DB, signer, w.Now), experiment.NewService(w.DB, factories, w.Now),
		template.NewService(w.DB, signer, w.Now),
		webhook.NewService(w.DB, files, webhooktest.DeliverRole, envelope, w.Now, rand.Reader),
		transfer.NewService(w.DB, signer, files, w.Now))
	w.Kept()
	sign := item.SignedBy(signer)
	w.engine = generatetest.NewWith(t, w.DB, w.Clock, files, generatetest.Only{Provider: sandbox.NewAlike(w.Now)},
		map[string]generate.Loader{item.ItemKind: item.Loader{Sign: sign}, studio.ItemKind: studio.Loader{Sign: sign},
			template.PreviewKind: template.Loader{}})
	w.engine.Add(wiring.Generating)
	w.out = &transfer.Exporter{DB: w.DB, Objects: files, Now: w.Now, LineBytes: 6000, FileBytes: 100_000}
	w.in = &transfer.Importer{DB: w.DB, Objects: files, URLs: files, Now: w.Now, Lines: 5,
		Envelope: envelope, Random: rand.Reader}
	w.engine.Handle(transfer.ExportKind, task.Func(w.out.Export))
	w.engine.Handle(transfer.ImportKind, task.Func(w.in.Import))
	w.engine.Handle(feed.RunKind, task.Func(func(context.Context, *task.Run) error { return nil }))
	publisher := &publication.Worker{DB: w.DB, Platforms: transferAdapters{w.Now}, Now: w.Now}
	for kind, h := range publisher.Handlers() {
		w.engine.Handle(kind, h)
	}
	return w
}

// transferAdapters finds the platforms of the sandbox.
type transferAdapters struct{ now func() time.Time }

func (a transferAdapters) Of(_ tenant.Mode, name string) (platform.Adapter, bool) {
	return registry.Sandbox(name, a.now)
}

// fill makes one of everything that exports have.
func (w *transferWorld) fill() {
	w.T.Helper()
	c := w.Caller
	post := func(path string, status int, body object) object {
		w.T.Helper()
		var made object
		c.Call(http.MethodPost, path, body).Into(w.T, status, &made)
		w.Clock.Add(time.Second)
		return made
	}
	w.profile = post("/v1/profiles", 201, object{"name": "Harbour Coffee", "spend_limit_credits": 500})["id"].(string)
	picture, err := sandbox.JPEG(sandbox.Scene{Width: 640, Height: 640})
	if err != nil {
		w.T.Fatal(err)
	}
	w.media = w.bring(picture)
	w.template = post("/v1/templates", 201, object{"name": "Spring", "theme": "playful",
		"design": object{"band": "#0a7cff", "end_card": object{"color": "deep"}}})["id"].(string)
	w.factory = post("/v1/factories", 201, object{"type": "brand", "name": "Acme", "language": "de",
		"template_id": w.template,
		"settings":    object{"brand_name": "Acme", "logo": w.media}, "metadata": object{"crm": w.media}})["id"].(string)
	w.seller = post("/v1/factories", 201, object{"type": "seller", "name": "Shop", "profile_id": w.profile,
		"settings": object{"currency": "EUR"}})["id"].(string)
	shoe := post("/v1/products", 201, object{"factory_id": w.seller, "sku": "A-1", "name": "Shoe",
		"price": object{"amount": 9900, "currency": "EUR"}})["id"].(string)
	c.Call(http.MethodPut, "/v1/factories/"+w.seller+"/feed", object{"format": "csv",
		"source": object{"url": "https://93.184.215.14/feed.csv"}, "mapping": object{"sku": "Artikel"},
		"on_removed": "withdraw"}).Into(w.T, 200, new(object))
	post("/v1/promotions", 201, object{"factory_id": w.seller, "product_ids": []string{shoe}, "name": "Sale",
		"discount": object{"kind": "percent", "value": 5}, "ends_at": w.Now().Add(999 * time.Hour)})
	for _, body := range []object{{"kind": "post"}, {"kind": "carousel", "slides": []object{{"text": "One"}, {}}},
		{"kind": "story"}, {"kind": "video", "duration_seconds": 10, "visuals": "stills", "music": "generated"},
		{"kind": "post", "sandbox": object{"outcome": "failed", "failure_code": "content_policy"}}} {
		body["factory_id"], body["prompt"], body["metadata"] = w.factory, "A shoe made of nets", object{"row": "7"}
		post("/v1/content-items", 202, body)
	}
	post("/v1/content-items", 202, object{"factory_id": w.factory, "kind": "post", "source": "provided",
		"media": []string{w.media}, "caption": "Our own picture", "ai_generated": false})
	post("/v1/factories/"+w.factory+"/content-plan", 202, object{"days": 2, "posts_per_day": 1,
		"content_types": []string{"post"}})
	post("/v1/studio/images", 202, object{"prompt": "A shoe"})
	w.engine.Drain()
	w.secret = post("/v1/webhooks", 201, object{"url": "https://93.184.215.14/hook",
		"event_types": []string{"content.*"}, "factory_ids": []string{w.factory}})["secret"].(string)
	w.Clock.Add(time.Second)
}

// transferSum returns the SHA-256 of a content in hexadecimal.
func transferSum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// bring brings in a picture, and returns the id of its media.
func (w *transferWorld) bring(picture []byte) string {
	w.T.Helper()
	m := mediaarea.Media{Resource: resource.New(id.New(id.Media, w.Now()), w.Now(), nil), Type: media.Image,
		MIMEType: "image/jpeg", Bytes: int64(len(picture)), SHA256: transferSum(picture), Width: 640, Height: 640}
	o := w.Principal.Owner
	key := fmt.Sprintf("media/%s/%s/%s/1/%s.jpg", o.Account, o.Mode, m.ID, m.SHA256)
	tx := &store.Tx{}
	if err := errors.Join(mediaarea.Adopt(tx, w.Now(), o, m, key, false), w.DB.Commit(w.T.Context(), tx),
		w.engine.Objects.Put(w.T.Context(), media.File{Key: key}, bytes.NewReader(picture))); err != nil {
		w.T.Fatal(err)
	}
	return m.ID
}

// export exports the account or a profile.
func (w *transferWorld) export(c *apitest.Caller, body object) transfer.Export {
	w.T.Helper()
	var x transfer.Export
	c.Call(http.MethodPost, "/v1/exports", body).Into(w.T, http.StatusAccepted, &x)
	w.engine.Drain()
	c.Call(http.MethodGet, "/v1/exports/"+x.ID, nil).Into(w.T, http.StatusOK, &x)
	if x.State != transfer.Completed {
		w.T.Fatalf("the export is %+v", x)
	}
	return x
}

// take imports an export, and waits for its end.
func (w *transferWorld) take(c *apitest.Caller, x transfer.Export) transfer.Import {
	w.T.Helper()
	return w.takeParts(c, x.Parts)
}

func (w *transferWorld) takeParts(c *apitest.Caller, parts any) (i transfer.Import) {
	w.T.Helper()
	c.Call(http.MethodPost, "/v1/imports", object{"parts": parts}).Into(w.T, http.StatusAccepted, &i)
	w.engine.Drain()
	c.Call(http.MethodGet, "/v1/imports/"+i.ID, nil).Into(w.T, http.StatusOK, &i)
	return i
}

// part reads a part of an export.
func (w *transferWorld) part(p transfer.Part) []byte {
	w.T.Helper()
	content := w.fetch(p.URL)
	if int64(len(content)) != p.Bytes || transferSum(content) != p.SHA256 {
		w.T.Fatalf("%s has %d bytes", p.URL, len(content))
	}
	return content
}

// text returns the text of a part of lines.
func (w *transferWorld) text(p transfer.Part) string { return string(w.part(p)) }

// keep stores the content of a part, and returns the part.
func (w *transferWorld) keep(name, content string) transfer.Part {
	w.T.Helper()
	if err := w.engine.Objects.Put(w.T.Context(), media.File{Key: name}, strings.NewReader(content)); err != nil {
		w.T.Fatal(err)
	}
	return transfer.Part{Kind: "lines", URL: "https://93.184.215.14/" + name, Bytes: int64(len(content)),
		SHA256: transferSum([]byte(content))}
}

// fetch reads an object by its signed URL.
func (w *transferWorld) fetch(url string) []byte {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, url, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	resp, err := w.engine.Objects.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.T.Fatalf("%s: %d, %v", url, resp.StatusCode, err)
	}
	return content
}

// exported are the lines and files of an export.
type exported struct {
	lines []object
	byID  map[string]object
	files map[string][]byte
	text  string
}

func (w *transferWorld) read(x transfer.Export) exported {
	w.T.Helper()
	e := exported{byID: map[string]object{}, files: map[string][]byte{}}
	for _, p := range x.Parts {
		content := w.part(p)
		e.text += string(content)
		if p.Kind == transfer.KindFiles {
			for archive := tar.NewReader(bytes.NewReader(content)); ; {
				h, err := archive.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					w.T.Fatal(err)
				}
				if e.files[h.Name], err = io.ReadAll(archive); err != nil {
					w.T.Fatal(err)
				}
			}
			continue
		}
		for line := range strings.Lines(string(content)) {
			var l object
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				w.T.Fatalf("%s: %v", line, err)
			}
			e.lines = append(e.lines, l)
			if resourceID, ok := l["id"].(string); ok {
				if l["kind"] != "feed" { // its id is that of its factory
					e.byID[resourceID] = l["data"].(object)
				}
			}
		}
	}
	return e
}

// transferDying is a handler whose every step is done, and forgotten: its function dies before it commits.
type transferDying struct {
	task.Handler
	died map[string]bool
}

func (d transferDying) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	o, err := d.Handler.Step(ctx, s)
	if at := s.ID + string(s.Payload); err == nil && !d.died[at] {
		d.died[at] = true
		return task.Outcome{}, errors.New("the function has died")
	}
	return o, err
}

// copies adds copies of an item to its factory.
func (w *transferWorld) copies(n int) {
	w.T.Helper()
	var all []object
	w.Call(http.MethodGet, "/v1/content-items?limit=100&state=generated&kind=post", nil).Into(w.T, 200, &all)
	it, err := w.DB.Get(w.T.Context(), store.IDKey(all[len(all)-1]["id"].(string)))
	if err != nil {
		w.T.Fatal(err)
	}
	for tx := (&store.Tx{}); n > 0; n-- {
		r, err := item.Decode(&it)
		if err != nil {
			w.T.Fatal(err)
		}
		r.Item.Resource = resource.New(id.New(id.ContentItem, w.Now()), w.Now(), r.Item.Metadata)
		r.Item.Caption, r.Item.ContentPlanID, r.Files = resource.Text(fmt.Sprintf("Copy %d", n)), nil,
			slices.Clone(r.Files[:0])
		entry, err := r.Entry(it.Owner)
		if err != nil {
			w.T.Fatal(err)
		}
		if tx.Create(entry, nil); tx.Len() == 50 || n == 1 {
			if err := w.DB.Commit(w.T.Context(), tx); err != nil {
				w.T.Fatal(err)
			}
			tx = &store.Tx{}
		}
	}
	w.Clock.Add(time.Second)
}

// checkSchema compares the lines of an export with their schema.
func (w *transferWorld) checkSchema(e exported) {
	w.T.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../../clients/export/v1/lines.schema.json")
	if err != nil {
		w.T.Fatal(err)
	}
	for _, l := range e.lines {
		if err := schema.Validate(map[string]any(l)); err != nil {
			w.T.Errorf("%v: %v", l["id"], err)
		}
	}
	empty := map[string]any{"kind": "factory", "id": "fac_1", "data": map[string]any{}, "files": []any{}}
	if schema.Validate(empty) == nil {
		w.T.Error("the schema permits an empty factory")
	}
}
