package store

import (
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// FromRecord returns the item of an image in a record of the table's stream.
func FromRecord(image map[string]events.DynamoDBAttributeValue) (Item, error) {
	a := make(attributes, len(image))
	for name, v := range image {
		switch v.DataType() {
		case events.DataTypeString:
			a[name] = str(v.String())
		case events.DataTypeNumber:
			a[name] = &types.AttributeValueMemberN{Value: v.Number()}
		case events.DataTypeBinary:
			a[name] = &types.AttributeValueMemberB{Value: v.Binary()}
		}
	}
	return unmarshal(a)
}
