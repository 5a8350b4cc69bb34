package publication

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gowebpki/jcs"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// DossierKind is the kind of the item with the dossier of a published post.
const DossierKind = "publication_dossier"

// DossierKey is the key of that item.
func DossierKey(publicationID string) store.Key { return store.IDKey("dossier#" + publicationID) }

// Dossier is what is known of a post at the time at which it was published. It is never changed.
type Dossier struct {
	// Version of the members of the dossier.
	Version int `json:"version" example:"1"`
	// Id of the publication that the dossier is about.
	PublicationID string `json:"publication_id"`
	// Id of the content item that was published there.
	ContentItemID string `json:"content_item_id"`
	// Id of the factory that has the item.
	FactoryID string `json:"factory_id"`
	// Id of the account whose key or person published it.
	AccountID tenant.Account `json:"account_id"`
	// live, or test for a post of a sandbox.
	Mode tenant.Mode `json:"mode" enum:"live,test"`
	// Social account that it was published to.
	SocialAccountID string `json:"social_account_id"`
	// Name of the platform of that social account.
	Platform string `json:"platform"`
	// Id of the post on the platform. Null where the platform does not say.
	PlatformPostID *string `json:"platform_post_id"`
	// Address of the post. Null where the platform does not say.
	URL *string `json:"url"`
	// Time at which the platform had published it.
	PublishedAt resource.Time `json:"published_at"`
	// Who had it published: the id of an API key or of a person.
	PublishedFor string `json:"published_for"`
	// Country whose rules applied (ISO 3166-1). Null if the factory and its profile have none.
	Region resource.Text `json:"region"`
	// Rules of law that applied, as they were checked just before it was published.
	Rules []DossierRule `json:"rules" nullable:"false"`
	// Decisions about the item that were in force. Empty if nobody has decided.
	Approvals []DossierApproval `json:"approvals" nullable:"false"`
	// Whether it was declared as made by AI where the platform asks.
	AIGenerated bool `json:"ai_generated"`
	// Whether the item has come by an import. Then the models and the version of the prompt are not known.
	Imported bool `json:"imported"`
	// Models that made its parts. Empty for content of your own.
	Models []DossierModel `json:"models" nullable:"false"`
	// Version of the prompt that its texts were written with. Null if you gave all texts.
	PromptVersion resource.Text `json:"prompt_version"`
	// Files that were published, in order.
	Files []DossierFile `json:"files" nullable:"false"`
	// Texts as the platform got them.
	Texts DossierTexts `json:"texts"`
}

// DossierRule is a rule of law that was checked.
type DossierRule struct {
	// Id of the rule, which never changes.
	ID string `json:"id" example:"eu_prior_price"`
	// Version of what it checks.
	Version int `json:"version"`
	// Where it is in force: EU, or a country (ISO 3166-1).
	Jurisdiction string `json:"jurisdiction" example:"EU"`
	// First day on which it is in force.
	Since string `json:"since" format:"date"`
	// Text of law that the rule follows.
	Source string `json:"source"`
	// Result of the check. A post that violates a rule is not published.
	Result string `json:"result" enum:"kept"`
}

// DossierApproval is a decision about an item.
type DossierApproval struct {
	// The decision that was in force then.
	State string `json:"state" enum:"approved,changes_requested"`
	// Who decided: the id of an API key, of a person, or of a review link.
	By string `json:"by"`
	// Time at which it was decided.
	At resource.Time `json:"at"`
	// Note of the decision. Null: none.
	Note resource.Text `json:"note"`
}

// DossierModel is a model that made parts of an item.
type DossierModel struct {
	// Id of the model in the catalog of the service.
	ID string `json:"id"`
	// Kind of the parts that it made.
	Kind string `json:"kind" enum:"text,image,video,music,voice,avatar"`
	// Name of the provider that ran the model.
	Provider string `json:"provider"`
}

// DossierFile is a file that was published.
type DossierFile struct {
	// Id of the file, as in the content item.
	ID string `json:"id"`
	// MIME type of the file, such as image/jpeg.
	MIMEType string `json:"mime_type"`
	// Size of the file in bytes, as it was published.
	Bytes int64 `json:"bytes"`
	// SHA-256 of the file in hexadecimal.
	SHA256 string `json:"sha256"`
}

// DossierTexts are the texts of a post.
type DossierTexts struct {
	// Title. Null where the platform has none.
	Title resource.Text `json:"title"`
	// Text, with the hashtags where they belong to it.
	Text resource.Text `json:"caption"`
	// Rest of a long text, which was published as a second message. Null if there is none.
	Rest resource.Text `json:"rest"`
	// Hashtags that the platform keeps apart from the text.
	Hashtags []string `json:"hashtags" nullable:"false"`
}

// rulesOf returns the results of rules that no post has violated.
func rulesOf(checked []law.Result) []DossierRule {
	all := []DossierRule{}
	for _, r := range checked {
		if r.Violation == nil {
			all = append(all, DossierRule{r.ID, r.Version, r.Jurisdiction, r.Since(), r.Source, "kept"})
		}
	}
	return all
}

// Proof is what a dossier has from elsewhere than the record of its item.
type Proof struct {
	// Files are the files as they were sent.
	Files []DossierFile
	// Approvals are the decisions in force that the audit log has, too.
	Approvals []DossierApproval
}

// dossier returns the dossier of a publication that was just published.
func dossier(o tenant.Owner, r *item.Record, pub *item.Publication, rules []DossierRule, proof Proof) Dossier {
	d := Dossier{Version: 1, PublicationID: pub.ID, ContentItemID: r.Item.ID, FactoryID: r.Item.FactoryID,
		AccountID: o.Account,
		Mode:      o.Mode, SocialAccountID: pub.SocialAccountID, Platform: pub.Platform,
		PlatformPostID: pub.PlatformPostID,
		URL:            pub.URL, PublishedAt: *pub.PublishedAt, PublishedFor: r.Authority.Actor.ID,
		Region: resource.Text(r.Brief.Region),
		Rules:  rules, Approvals: append([]DossierApproval{}, proof.Approvals...), AIGenerated: r.Item.AIGenerated,
		Models: []DossierModel{}, Imported: r.Imported && len(r.Attempt.Parts) == 0,
		PromptVersion: r.Item.PromptVersion, Files: append([]DossierFile{}, proof.Files...),
		Texts: DossierTexts{Hashtags: []string{}}}
	if d.Rules == nil {
		d.Rules = []DossierRule{}
	}
	for _, p := range r.Attempt.Parts {
		m := DossierModel{p.Model, string(p.Kind), p.Provider}
		if p.Model != "" && !slices.Contains(d.Models, m) {
			d.Models = append(d.Models, m)
		}
	}
	if p := pub.Posted; p != nil {
		d.Texts = DossierTexts{p.Title, p.Text, p.Rest, p.Hashtags}
	}
	return d
}

// StoredDossier is the document of the item of a dossier: its canonical form (RFC 8785), and the hash of that.
type StoredDossier struct {
	Canonical string `json:"canonical"`
	SHA256    string `json:"sha256"`
}

// KeepDossier adds the dossier of a publication that was just published to the transaction, and returns its hash.
func KeepDossier(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, pub *item.Publication,
	rules []DossierRule, proof Proof) (sha string, err error) {
	plain, err := json.Marshal(dossier(o, r, pub, rules, proof))
	if err != nil {
		return "", err
	}
	canonical, err := jcs.Transform(plain)
	if err != nil {
		return "", fmt.Errorf("publication: canonical form of the dossier of %s: %w", pub.ID, err)
	}
	sum := sha256.Sum256(canonical)
	d := StoredDossier{string(canonical), hex.EncodeToString(sum[:])}
	it := store.Item{Key: DossierKey(pub.ID), Kind: DossierKind, Owner: o}
	if ends := generate.ExpiresAt(o, resource.Instant(now)); ends != nil {
		it.ExpireAt = ends.Time
	}
	if err := it.Encode(d); err != nil {
		return "", err
	}
	tx.Create(it, nil)
	return d.SHA256, nil
}

// publishedOperation is the operation of the entry of a published post in the audit log.
const publishedOperation = "publication.published"

// document adds the dossier of a publication that was just published to the transaction, and writes its hash into the
// audit log. If the transaction fails and is repeated, the log has an entry for each, of which the last has the hash.
func (w *Worker) document(ctx context.Context, p planner, pub *item.Publication, done posting) error {
	approvals, err := w.approvals(ctx, p.Owner, p.r)
	if err != nil {
		return err
	}
	sha, err := KeepDossier(p.tx, p.now, p.Owner, p.r, pub, done.Rules, Proof{done.Files, approvals})
	if err != nil || w.Entries == nil {
		return err
	}
	e := auditlog.Entry{At: resource.Instant(p.now), OperationID: publishedOperation, Status: http.StatusOK, Count: 1,
		Path: "/v1/publications/" + pub.ID + "/dossier", DossierSHA256: &sha, RequestID: p.tx.Origin,
		FactoryID: &p.r.Item.FactoryID, Kind: new(string(p.r.Item.Kind))}
	if p.Profile != "" {
		e.ProfileID = new(string(p.Profile))
	}
	if m := p.r.Authority.Mandate; m != "" {
		e.Mandate = &m
	}
	return auditlog.Write(ctx, w.Entries, w.EntryRegion, p.Owner, p.r.Authority.Actor, e)
}
