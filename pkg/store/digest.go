package store

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// FromImage returns the item of an image in the table's stream, of which the texts and
// the numbers are given by the names of their attributes.
func FromImage(texts, numbers map[string]string) Item {
	a := attributes{}
	for name, value := range texts {
		a[name] = str(value)
	}
	for name, value := range numbers {
		a[name] = &types.AttributeValueMemberN{Value: value}
	}
	return unmarshal(a)
}

// Digest returns a hash of the item as it was read, with its key and all attributes
// that have an effect.
func (it *Item) Digest() (string, error) {
	all := map[string]string{}
	for name, v := range it.marshal() {
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
