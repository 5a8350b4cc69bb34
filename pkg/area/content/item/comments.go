package item

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ReadComments is the kind of the task that reads the comments on a publication. The engagement area has its handler.
const ReadComments task.Kind = "comments.read"

// Reading is the payload of a ReadComments task.
type Reading struct {
	Publication string    `json:"publication"`
	Account     string    `json:"account"`
	At          time.Time `json:"at"` // of the publication
}

// Comments are read every often in the first hour of a post, then hourly for a day, then daily for readFor.
const (
	often   = 5 * time.Minute
	readFor = 30 * 24 * time.Hour
	// rehearsed is the time of the first look with a test key.
	rehearsed = time.Second
)

// Next returns the time until the next look, and reports whether there is one.
func (p Reading) Next(now time.Time, c platform.Commenting) (time.Duration, bool) {
	age := now.Sub(p.At)
	for _, at := range c.ReadAt {
		if at > age {
			return at - age, true
		}
	}
	switch {
	case c.ReadAt != nil || age >= readFor:
		return 0, false
	case age < time.Hour:
		return often, true
	case age < 24*time.Hour:
		return task.Jitter(time.Hour), true
	}
	return task.Jitter(24 * time.Hour), true
}

// WatchComments adds to the transaction the task that reads the comments on a publication, if its platform shows them.
func (r *Record) WatchComments(tx *store.Tx, now time.Time, o tenant.Owner, pub *Publication,
	limits platform.Capabilities) error {
	if !limits.Comments.Reads || pub.PlatformPostID == nil || r.Item.Kind == Story {
		return nil
	}
	p := Reading{Publication: pub.ID, Account: pub.SocialAccountID, At: pub.PublishedAt.Time}
	wait, _ := p.Next(now, limits.Comments)
	if o.Mode == tenant.Test {
		wait = rehearsed
	}
	return task.Create(tx, now, task.Task{Message: ReadingOf(o, r.Item.ID, pub.ID), DueAt: now.Add(wait)}, p)
}

// ReadingOf returns the message of the task that reads the comments on a publication. A publication is published once.
func ReadingOf(o tenant.Owner, itemID, publicationID string) task.Message {
	return task.Message{ID: task.ID(ReadComments, publicationID, 1), Kind: ReadComments, Queue: topology.Publish,
		Subject: itemID, Owner: o}
}

// PostKind is the kind of the item at PostKey.
const PostKind = "platform_post"

// PostKey is the key of the item that names the publication of a post of a platform, so that webhooks of the platform
// find it.
func PostKey(platform, remoteAccount, postID string) store.Key {
	return store.IDKey("post#" + platform + "#" + remoteAccount + "#" + postID)
}

// PostDocument is the document of the item at PostKey.
type PostDocument struct {
	Item        string `json:"item"`
	Publication string `json:"publication"`
	Account     string `json:"account"` // of the service
}

// Entry returns the item at a key. It expires when the comments on the post are read no more.
func (a PostDocument) Entry(now time.Time, o tenant.Owner, key store.Key) (store.Item, error) {
	doc, err := json.Marshal(a)
	if err != nil {
		return store.Item{}, fmt.Errorf("item: %w", err)
	}
	return store.Item{Key: key, Kind: PostKind, Owner: o, Doc: doc, ExpireAt: now.Add(readFor)}, nil
}
