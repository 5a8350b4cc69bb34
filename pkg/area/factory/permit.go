package factory

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

// steers says of each member of the settings whether it decides what is made: prompts read it, or it chooses the model,
// the kind, the language or the marking. A member without a row steers.
var steers = map[string]bool{
	"name": true, "language": true, "description": true, "audience": true, "tone": true, "topics": true,
	"content_types": true, "models": true, "replace_retired_models": true, "ai_caption_line": true, "quality": true,
	"settings": true, "region": true, "ad_marking": true,
	// plan_approve decides whether somebody has read the topics of what is made.
	"plan_approve": true,
	// These have rules of their own, say when something is made, or are the caller's notes.
	"auto_publish": false, "approval": false, "schedule": false, "state": false, "metadata": false,
}

// Before is what a factory was before a change, for Permit.
type Before struct {
	members map[string]json.RawMessage
	all     []byte
}

// Before returns what the factory is now. Of what was stored before a member had its default, the members have it.
func (f *Factory) Before(now time.Time) (b Before, err error) {
	if b.all, err = json.Marshal(f.settings()); err != nil {
		return b, err
	}
	usual := *f
	if err := usual.apply(usual.settings(), now); err != nil {
		usual = *f
	}
	b.members, err = usual.members()
	return b, err
}

func (f *Factory) members() (all map[string]json.RawMessage, err error) {
	raw, err := json.Marshal(f.settings())
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(raw, &all)
}

// Changes reports whether the factory is another one now.
func (b Before) Changes(f *Factory) (bool, error) {
	now, err := json.Marshal(f.settings())
	return !bytes.Equal(b.all, now), err
}

// Permit refuses a change by which a principal who may not publish has content published: it turns automatic publishing
// on, or ends the approval of content. What steers the items of a factory that publishes automatically is noted: they
// wait for an approval, until somebody who may publish changes the factory. The factory has the change already.
func (f *Factory) Permit(p *auth.Principal, before Before) error {
	now, err := f.members()
	if err != nil {
		return err
	}
	var found []error
	if f.AutoPublish && string(before.members["auto_publish"]) != "true" {
		found = append(found, p.Require(auth.ContentPublish, "/auto_publish"))
	}
	if string(before.members["approval"]) == `"`+ApprovalRequired+`"` && f.Approval != ApprovalRequired {
		found = append(found, p.Require(auth.ContentPublish, "/approval"))
	}
	if err := errs.All(found...); err != nil {
		return err
	}
	steered := false
	for name, value := range now {
		steer, known := steers[name]
		steered = steered || (steer || !known) && !bytes.Equal(before.members[name], value)
	}
	f.Steered = !p.Has(auth.ContentPublish) && f.AutoPublish && (f.Steered || steered)
	return nil
}
