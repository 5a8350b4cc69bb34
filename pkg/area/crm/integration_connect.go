package crm

import (
	"context"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Disconnect is the kind of the task that ends the webhooks and the access at the CRM.
const Disconnect task.Kind = "crm.disconnect"

// revokeWithin bounds the time for which the access is tried to be ended.
const revokeWithin = 24 * time.Hour

// identityKind is the kind of the item that names the integration of an account of a CRM.
const identityKind = "crm_identity"

// IdentityKey is the key of the item that names the integration of an owner for an account of a CRM. It prevents that
// an account is connected twice, and finds the integrations of a webhook that names the account alone.
func IdentityKey(o tenant.Owner, kind, remote string) store.Key {
	return store.IDKey("crm#" + o.String() + "#" + kind + "#" + remote)
}

// RemotePartition is the partition of store.ByParent that lists the identities of an account of a CRM.
func RemotePartition(mode tenant.Mode, kind, remote string) string {
	return "crm#" + string(mode) + "#" + kind + "#" + remote
}

// Identity is the document of that item.
type Identity struct {
	Integration string `json:"integration"`
}

// Connect adds to the transaction that an integration is connected: its record and identity, and the tasks that
// refresh its token and synchronize it. The caller has filled in the record and sealed the secrets, and has read the
// identity, which names no other integration.
func (r *Record) Connect(tx *store.Tx, now time.Time, o tenant.Owner, it, identity store.Item, a crm.Account) error {
	r.State, r.Consent, r.AuthorizationURL = Connected, nil, nil
	if r.Former != "" && r.Former != a.ID {
		r.Mapping, r.Pipelines, r.Imported = Mapping{}, nil, false
	}
	r.Remote, r.Name, r.Former = a.ID, resource.Text(text.ClipLine(a.Name, 200)), ""
	r.Connection++
	r.stored(now, a.Token)
	if identity.Version == 0 {
		identity = store.Item{Key: IdentityKey(o, r.Kind, a.ID), Kind: identityKind, Owner: o,
			Parent: store.Key{PK: RemotePartition(o.Mode, r.Kind, a.ID), SK: r.ID}}
		if err := identity.Encode(Identity{r.ID}); err != nil {
			return err
		}
		tx.Create(identity, nil)
	}
	if !r.ExpiresAt.IsZero() {
		t := task.Task{Message: refreshMessage(o, r), DueAt: now.Add(r.pause(now))}
		if err := task.Create(tx, now, t, social.Refreshing{Connection: r.Connection}); err != nil {
			return err
		}
	}
	if r.FirstAt.IsZero() {
		r.FirstAt = now
	}
	since := r.FirstAt
	if r.LastSync != nil {
		since = r.LastSync.At.Add(-time.Hour)
	}
	if err := task.Create(tx, now, task.Task{Message: syncMessage(o, r)}, progress{Connection: r.Connection,
		Since: since}); err != nil {
		return err
	}
	return r.Save(tx, now, o, it, "")
}

// disconnecting is the payload of a Disconnect task.
type disconnecting struct {
	Kind string `json:"kind,omitempty"`
	// Sealed is the Credentials of the connection. It is dropped at the end.
	Sealed []byte `json:"sealed,omitempty"`
}

// Disconnect adds the end of an integration, whose item was read, to the transaction. The transaction forgets the
// tokens, and a task does the rest.
func (r *Record) Disconnect(ctx context.Context, db *store.DB, tx *store.Tx, now time.Time, it store.Item) error {
	if r.Remote != "" {
		identity, err := db.Lookup(ctx, IdentityKey(it.Owner, r.Kind, r.Remote))
		if err != nil {
			return err
		}
		if identity.Version > 0 {
			tx.Delete(identity)
		}
	}
	if len(r.Sealed) > 0 && r.Connection > 0 {
		t := task.Task{Message: message(Disconnect, it.Owner, r.ID, task.ID(Disconnect, r.ID, r.Connection)),
			Deadline: now.Add(revokeWithin)}
		if err := task.Create(tx, now, t, disconnecting{Kind: r.Kind, Sealed: r.Sealed}); err != nil {
			return err
		}
		// It would wait for the next day to find that there is nothing to do.
		if err := task.Wake(tx, now, syncMessage(it.Owner, r)); err != nil {
			return err
		}
	}
	r.State, r.Sealed, r.Hook, r.Consent, r.AuthorizationURL = Disconnected, nil, "", nil, nil
	if r.Remote != "" {
		r.Former = r.Remote
	}
	r.ExpiresAt, r.Remote = time.Time{}, ""
	r.Connection++
	return r.Save(tx, now, it.Owner, it, "")
}

// disconnect ends the webhooks and the access. It does neither if the integration was connected again, because some
// CRMs would end the new connection, too.
func (w *Worker) disconnect(ctx context.Context, r *task.Run) error {
	var p disconnecting
	if err := r.Decode(&p); err != nil {
		return err
	}
	if r.Cause() != nil {
		// The token is already forgotten here, and expires at the CRM.
		slog.Warn("access of an integration not revoked", "integration_id", r.Subject, "error", r.Cause())
		r.Forget("sealed")
		return nil
	}
	_, present, err := w.read(ctx, r.Subject)
	if err != nil {
		return social.Again(err, 0)
	}
	if adapter := w.Systems.Of(r.Mode, p.Kind); adapter != nil && !present.Usable() {
		var secrets Credentials
		if err := w.Vault.Open(ctx, r.Owner, r.Subject, p.Sealed, &secrets); err != nil {
			return social.Again(err, time.Minute)
		}
		if !r.Knows("unsubscribed") && !adapter.Facts().Shared {
			err := adapter.Unsubscribe(ctx, secrets.Account, present.HookURL(secrets.Hook))
			if err != nil && r.Failures < 3 {
				return social.Again(err, time.Minute)
			}
			if err := r.Keep("unsubscribed", true); err != nil {
				return err
			}
		}
		if err := adapter.Revoke(ctx, secrets.Account); err != nil {
			return social.Again(err, time.Minute)
		}
	}
	r.Forget("sealed")
	return nil
}
