package store

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Digest returns a hash of the item as it was read, with its key and all attributes that have an effect. It does not
// depend on how the document is stored.
func (it *Item) Digest() (string, error) {
	all := map[string]string{}
	for name, v := range it.plain() {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			all[name] = "S" + v.Value
		case *types.AttributeValueMemberN:
			all[name] = "N" + v.Value
		}
	}
	b, err := json.Marshal(all) // sorted by name
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}
