package item

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// PostKind is the kind of the item at PostKey.
const PostKind = "platform_post"

// PostKey is the key of the item that names the publication of a post of a platform, so that webhooks of the platform
// find it.
func PostKey(platform, remoteAccount, postID string) store.Key {
	return store.IDKey("post#" + platform + "#" + remoteAccount + "#" + postID)
}

// Announced is the document of the item at PostKey.
type Announced struct {
	Item        string `json:"item"`
	Publication string `json:"publication"`
	Account     string `json:"account"` // of the service
}

// Entry returns the item at a key. It expires when the comments on the post are read no more.
func (a Announced) Entry(now time.Time, o tenant.Owner, key store.Key) (store.Item, error) {
	doc, err := json.Marshal(a)
	if err != nil {
		return store.Item{}, fmt.Errorf("item: %w", err)
	}
	return store.Item{Key: key, Kind: PostKind, Owner: o, Doc: doc, ExpireAt: now.Add(readFor)}, nil
}
