package area_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"crypto/rand"
	"crypto/sha256"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/area/factory"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/people"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	profilearea "github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	wiring "github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

var vault = social.Vault{Envelope: sealtest.Envelope("key")}

// erasureWorld is an account with two profiles, and the workers of all that they have.
type erasureWorld struct {
	*servicetest.World
	engine  *generatetest.Engine
	service *erasure.Service
	worker  *erasure.Worker
	entries *store.DB // the audit table
	owner   string    // ada@example.com
	// revoked counts the tokens that were revoked at platforms, and mails are the e-mails that were sent.
	revoked int
	mails   []people.Message
}

// Of implements the adapters of platforms: those of the sandbox, whose revocations count.
func (w *erasureWorld) Of(_ tenant.Mode, name string) (platform.Adapter, bool) {
	a, ok := registry.Sandbox(name, w.Now)
	return counted{a, w}, ok
}

type counted struct {
	platform.Adapter
	w *erasureWorld
}

func (c counted) Revoke(ctx context.Context, a platform.Account) error {
	c.w.revoked++
	return c.Adapter.Revoke(ctx, a)
}

// Send implements people.Mailer.
func (w *erasureWorld) Send(_ context.Context, m people.Message) error {
	w.mails = append(w.mails, m)
	return nil
}

func newErasureWorld(t *testing.T, with ...func(*aws.Config)) *erasureWorld {
	t.Helper()
	w := &erasureWorld{World: servicetest.New(t, with...)}
	files := &generatetest.Objects{}
	signer := apitest.Signer(t, w.Now, func(c *aws.Config) { c.HTTPClient = files })
	offer := catalog.NewOffer("bedrock,fal,elevenlabs", "us-west-2", nil)
	factories := factory.NewService(w.DB, w.Now)
	w.Serve(factories, account.NewService(w.DB, w.Now), content.NewService(w.DB, factories, signer, offer, w.Now),
		studio.NewService(w.DB, signer, nil, offer, w.Now), mediaarea.NewService(w.DB, signer, nil, w.Now),
		planarea.NewService(w.DB, factories, offer, w.Now), product.NewService(w.DB, signer, nil, w.Now),
		profilearea.NewService(w.DB, signer, w.Now),
		webhook.NewService(w.DB, files, webhooktest.DeliverRole, sealtest.Envelope("secret"), w.Now, rand.Reader),
		transfer.NewService(w.DB, signer, files, w.Now))
	w.Kept()
	sign := item.SignedBy(signer)
	loaders := map[string]generate.Loader{item.ItemKind: item.Loader{Sign: sign},
		studio.ItemKind: studio.Loader{Sign: sign}}
	w.engine = generatetest.NewWith(t, w.DB, w.Clock, files, generatetest.Only{Provider: sandbox.NewAlike(w.Now)},
		loaders)
	w.engine.Add(wiring.Generating)
	w.entries = storetest.Open(t, w.Now)
	w.worker = &erasure.Worker{Deleter: erasure.Deleter{DB: w.DB, Loaders: loaders, Now: w.Now}, Entries: w.entries}
	w.service = erasure.NewService(w.DB, w.Now)
	w.engine.Handle(erasure.TaskKind, task.Func(w.worker.Erase))
	w.engine.Handle(transfer.ExportKind, task.Func((&transfer.Exporter{DB: w.DB, Objects: files, Now: w.Now}).Export))
	w.engine.Handle(mediaarea.Kind, task.Func((&mediaarea.Importer{DB: w.DB, Objects: objects{files},
		Now: w.Now}).Import))
	w.handle((&publication.Worker{DB: w.DB, Platforms: w, Vault: vault, Files: nil, Now: w.Now}).Handlers())
	w.handle((&social.Worker{DB: w.DB, Platforms: w, Vault: vault, Now: w.Now, Cleaners: []social.Cleaner{
		publication.AccountCleaner{DB: w.DB, Now: w.Now}}}).Handlers())
	w.handle(people.MailHandlers(people.MailConfig{DB: w.DB, Mailer: w, Random: rand.Reader,
		URL: "https://www.example.com", Now: w.Now}))
	w.owner = w.person("ada", auth.Owner)
	return w
}

// objects also removes single files.
type objects struct{ *generatetest.Objects }

func (o objects) Delete(ctx context.Context, key string) error {
	return o.Remove(ctx, placeOf(key))
}

// placeOf returns the place of a file by its key: media/account/mode/resource/attempt/name.
func placeOf(key string) (p media.Place) {
	if parts := strings.Split(key, "/"); len(parts) == 6 {
		p = media.Place{Owner: tenant.Of(tenant.Account(parts[1]), tenant.Mode(parts[2])), Resource: parts[3],
			Attempt: 1}
	}
	return p
}

func (w *erasureWorld) handle(all map[task.Kind]task.Handler) {
	for kind, h := range all {
		w.engine.Handle(kind, h)
	}
}

// person adds a person of the account with a role, and returns their id.
func (w *erasureWorld) person(name string, role auth.Role) string {
	w.T.Helper()
	r := person.Record{Person: person.Person{Resource: resource.New(id.New(id.Person, w.Now()), w.Now(), nil),
		Email: name + "@example.com", Role: role, State: person.Active}}
	it := store.Item{Key: credential.KeyOf(w.Principal.Account, r.ID), Kind: person.Kind,
		Owner: tenant.Of(w.Principal.Account, ""), Filters: map[string]string{"state": string(person.Active)}}
	w.Clock.Add(time.Second)
	w.Commit(func(tx *store.Tx) error {
		err := it.Encode(r)
		tx.Create(it, nil)
		return err
	})
	return r.ID
}

// client is a profile with one of everything.
type client struct {
	id, factory, item, planned, media, social string
}

// fill makes a profile, or what the account itself has if the name is empty.
func (w *erasureWorld) fill(name string) (c client) {
	w.T.Helper()
	post := func(path string, status int, body object) object {
		w.T.Helper()
		var made object
		w.Call(http.MethodPost, path, body).Into(w.T, status, &made)
		w.Clock.Add(time.Second)
		return made
	}
	in := func(body object) object {
		if c.id != "" {
			body["profile_id"] = c.id
		}
		return body
	}
	o := w.Principal.Owner
	if name != "" {
		c.id = post("/v1/profiles", 201, object{"name": name})["id"].(string)
		o = o.Of(tenant.Profile(c.id))
	}
	c.factory = post("/v1/factories", 201, in(object{"type": "brand", "name": "Acme",
		"settings": object{"brand_name": "Acme"}}))["id"].(string)
	seller := post("/v1/factories", 201, in(object{"type": "seller", "name": "Shop",
		"settings": object{"currency": "EUR"}}))["id"].(string)
	post("/v1/products", 201, object{"factory_id": seller, "sku": "A-1", "name": "Shoe",
		"price": object{"amount": 9900, "currency": "EUR"}})
	a := social.Account{Resource: resource.New(social.NewID(w.Now()), w.Now(), nil), Platform: "telegram",
		Handle: "acme", FactoryIDs: []string{}}
	w.Commit(func(tx *store.Tx) error { return social.Adopt(w.T.Context(), tx, w.Now(), o, vault, a) })
	c.social, c.media = a.ID, w.bring(o)
	c.item = post("/v1/content-items", 202, object{"factory_id": c.factory, "kind": "post",
		"prompt": "A shoe"})["id"].(string)
	c.planned = post("/v1/content-items", 202, object{"factory_id": c.factory, "kind": "post", "source": "provided",
		"media": []string{c.media}, "caption": "Our own picture", "ai_generated": false,
		"publish_at": w.Now().AddDate(0, 2, 0), "social_account_ids": []string{c.social}})["id"].(string)
	post("/v1/studio/images", 202, in(object{"prompt": "A shoe"}))
	post("/v1/webhooks", 201, in(object{"url": "https://93.184.215.14/hook", "event_types": []string{"content.*"}}))
	for range 12 { // until all is generated, and before anything far away is due
		if !w.engine.Step() {
			break
		}
	}
	w.Clock.Add(time.Second)
	return c
}

// bring brings in a picture of an owner, and returns the id of its media.
func (w *erasureWorld) bring(o tenant.Owner) string {
	w.T.Helper()
	picture, err := sandbox.JPEG(sandbox.Scene{Width: 640, Height: 640})
	if err != nil {
		w.T.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(picture))
	m := mediaarea.Media{Resource: resource.New(id.New(id.Media, w.Now()), w.Now(), nil), Type: media.Image,
		MIMEType: "image/jpeg", Bytes: int64(len(picture)), SHA256: sum, Width: 640, Height: 640}
	key := fmt.Sprintf("media/%s/%s/%s/1/%s.jpg", o.Account, o.Mode, m.ID, sum)
	w.Commit(func(tx *store.Tx) error { return mediaarea.Adopt(tx, w.Now(), o, m, key, false) })
	if err := w.engine.Objects.Put(w.T.Context(), media.File{Key: key}, bytes.NewReader(picture)); err != nil {
		w.T.Fatal(err)
	}
	return m.ID
}

// until takes steps until a condition holds. The clock moves to the next step of an erasure that is due in weeks.
func (w *erasureWorld) until(what string, holds func() bool) {
	w.T.Helper()
	for range 4000 {
		if holds() {
			return
		}
		if !w.engine.Step() && !w.skip() {
			break
		}
	}
	if !holds() {
		for _, row := range storetest.Rows(w.T, w.DB) {
			if row["kind"] == erasure.Kind || row["kind"] == transfer.ExportItem || strings.Contains(row["pk"], "#erasure#") ||
				strings.Contains(row["pk"], "transfer.export") {
				w.T.Logf("at %s: %s %s %s", w.Now(), row["pk"], row["f_state"], row["doc"])
			}
		}
		w.T.Fatalf("%s does not come", what)
	}
}

// skip moves the clock to the next step of an erasure, and wakes its task. It returns false if none waits.
func (w *erasureWorld) skip() bool {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] != task.ItemKind || !strings.HasPrefix(row["pk"], "task#erasure#") || row["f_state"] != "running" {
			continue
		}
		var is task.Task
		if err := json.Unmarshal([]byte(row["doc"]), &is); err != nil {
			w.T.Fatal(err)
		}
		w.Clock.Add(max(is.DueAt.Sub(w.Now()), 0))
		w.Commit(func(tx *store.Tx) error { return task.Wake(tx, w.Now(), is.Message) })
		return true
	}
	return false
}

// of returns the erasure of a scope.
func (w *erasureWorld) of(scope tenant.Owner) erasure.Record {
	w.T.Helper()
	r, _, err := w.service.Find(w.T.Context(), scope)
	if err != nil {
		w.T.Fatal(err)
	}
	return r
}

// reach takes steps until an erasure has a state.
func (w *erasureWorld) reach(scope tenant.Owner, s erasure.State) {
	w.T.Helper()
	w.until(string(s), func() bool { return w.of(scope).State == s })
}

// ask asks for an erasure.
func (w *erasureWorld) ask(scope tenant.Owner, name string) erasure.Record {
	w.T.Helper()
	r, err := w.service.Ask(w.T.Context(), scope, name, w.owner)
	if err != nil {
		w.T.Fatal(err)
	}
	return r
}

// subjects returns the subjects of the e-mails to an address, in their order.
func (w *erasureWorld) subjects(to string) (all []string) {
	for _, m := range w.mails {
		if m.To == to {
			all = append(all, m.Subject)
		}
	}
	return all
}

// logged returns the number of entries of an operation in the audit log.
func (w *erasureWorld) logged(operation string) (n int) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.entries) {
		var e auditlog.Entry
		if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
			w.T.Fatal(err)
		}
		if string(e.OperationID) == operation && e.Actor.ID == w.owner {
			n++
		}
	}
	return n
}

// keys returns the keys of the items of an owner but tasks, sorted. A task comes and goes with the time.
func (w *erasureWorld) keys(has func(storetest.Row) bool) (all []string) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] != task.ItemKind && row["kind"] != task.OutboxKind && row["kind"] != "event" && has(row) {
			all = append(all, row["kind"]+" "+row["pk"]+" "+row["sk"])
		}
	}
	slices.Sort(all)
	return all
}

// dying is a handler that dies twice at each step: in the middle, before its first write, and at the end, before its
// outcome is committed.
type dying struct {
	task.Handler
	w *erasureWorld
}

func (d dying) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	switch s.Failures {
	case 0:
		bounded, cancel := context.WithCancel(ctx)
		defer cancel()
		d.w.Faults.Before("TransactWriteItems", cancel)
		_, _ = d.Handler.Step(bounded, s)
		d.w.Faults.Reset()
		return task.Outcome{}, task.Again(errors.New("the function has died in the middle"))
	case 1:
		_, _ = d.Handler.Step(ctx, s)
		return task.Outcome{}, task.Again(errors.New("the function has died at the end"))
	}
	return d.Handler.Step(ctx, s)
}
