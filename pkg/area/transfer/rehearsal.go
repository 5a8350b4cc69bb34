package transfer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Rehearsal opens an export in a sandbox of one's own: simulated accounts stand for its social accounts, its webhooks
// send to an address, and what was, or is to be, published from a time on is published again, each post at its time.
type Rehearsal struct {
	DB       *store.DB
	Envelope *seal.Envelope
	// Put stores an object of the bucket.
	Put    func(key string, content io.Reader) error
	Random io.Reader
	Now    time.Time
	Owner  tenant.Owner
	// Webhooks is the address of all webhooks. If it is empty, they are disabled.
	Webhooks string
}

// SandboxExport is an export that was opened in a sandbox.
type SandboxExport struct {
	// Import is the id of the import, whose work is done next.
	Import string
	// Secrets are the signing secrets of the webhooks, by their ids.
	Secrets map[string]string
}

// Open opens the parts of an export, with their content.
func (r Rehearsal) Open(ctx context.Context, parts [][]byte) (out SandboxExport, err error) {
	out.Secrets = map[string]string{}
	t := &taker{}
	for i, content := range parts {
		if len(content) == 0 || content[0] != '{' {
			continue
		}
		lines := bufio.NewScanner(bytes.NewReader(content))
		lines.Buffer(make([]byte, 0, 64<<10), mostLine)
		for n := 1; lines.Scan(); n++ {
			var l Line
			err := json.Unmarshal(lines.Bytes(), &l)
			switch {
			case err != nil:
			case l.Kind == headerLine:
				err = t.header(i+1, lines.Bytes())
			case t.source == nil:
				err = fmt.Errorf("it does not begin with the header of an export")
			case l.Kind == "social_account" || l.Kind == "webhook" && r.Webhooks != "":
				err = r.adopt(ctx, names{r.Owner, t.source.ExportID}, l, out.Secrets)
			}
			if err != nil {
				return out, fmt.Errorf("line %d of part %d: %w", n, i+1, err)
			}
		}
		if err := lines.Err(); err != nil {
			return out, fmt.Errorf("part %d: %w", i+1, err)
		}
	}
	if t.source == nil {
		return out, fmt.Errorf("no part has the header of an export")
	}
	tx := &store.Tx{}
	in, err := newImport(tx, r.Now, r.Owner, authority.Operator(), make([]partBody, len(parts)), nil, &r.Now)
	if err != nil {
		return out, err
	}
	at := &task.Run{Step: &task.Step{Task: task.Task{Message: task.Message{Subject: in.ID, Owner: r.Owner}}}}
	for i, content := range parts {
		if err := r.Put(partKey(at, i+1), bytes.NewReader(content)); err != nil {
			return out, err
		}
	}
	out.Import = in.ID
	return out, r.DB.Commit(ctx, tx)
}

// adopt creates the account or webhook of a line, before the import finds it.
func (r Rehearsal) adopt(ctx context.Context, ids names, l Line, secrets map[string]string) error {
	for _, k := range kinds {
		if k.name != l.Kind {
			continue
		}
		tree, err := parse(k, l.Data)
		if err != nil {
			return err
		}
		renamed := ids.tree(tree, map[string]string{}).(map[string]any)
		data, err := json.Marshal(renamed)
		if err != nil {
			return err
		}
		o := r.Owner
		if of, ok := renamed["profile_id"].(string); ok {
			o = o.Of(tenant.Profile(of))
		}
		tx := &store.Tx{}
		if l.Kind == "webhook" {
			err = r.webhook(ctx, tx, o, data, secrets)
		} else {
			err = r.account(ctx, tx, o, data)
		}
		if err != nil {
			return err
		}
		return r.DB.Commit(ctx, tx)
	}
	return nil
}

func (r Rehearsal) webhook(ctx context.Context, tx *store.Tx, o tenant.Owner, data []byte,
	secrets map[string]string) error {
	var w webhook.Webhook
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	secret, key, err := webhook.NewSecret(ctx, r.Random, r.Envelope, webhook.Ref{Owner: o, ID: w.ID})
	if err != nil {
		return err
	}
	secrets[w.ID] = key.Reveal()
	return rehearseWebhook(tx, o, w, r.Webhooks, secret)
}

func (r Rehearsal) account(ctx context.Context, tx *store.Tx, o tenant.Owner, data []byte) error {
	var a social.Account
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	if a.State != social.Connected && a.State != social.NeedsReconnect {
		return nil
	}
	err := social.Adopt(ctx, tx, r.Now, o, social.Vault{Envelope: r.Envelope}, a)
	if errs.CodeOf(err) == errs.InvalidState {
		return nil // a platform that the sandbox does not have
	}
	return err
}
