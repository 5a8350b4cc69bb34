// Command shop has a catalog follow the feed of a shop, and prints what the run did. SVC_API_KEY has the key, BASE_URL
// the address of the API.
package main

import (
	"context"
	"fmt"
	"log"

	contentautomation "github.com/content-automation/api/clients/go"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client, err := contentautomation.New()
	if err != nil {
		return err
	}
	shop, err := client.Factories.Create(ctx, contentautomation.SellerFactoryCreate{Name: "Acme",
		Settings: contentautomation.SellerSettingsInput{Currency: "EUR"}})
	if err != nil {
		return err
	}
	if _, err := client.Feeds.Set(ctx, shop.ID, contentautomation.FeedCreate{
		Source: contentautomation.FeedSourceCreate{URL: contentautomation.Ptr("https://shop.example.com/sandbox.xml")},
		Format: contentautomation.FeedFormatGoogleXml, Photos: contentautomation.Ptr(contentautomation.FeedPhotosNone),
	}); err != nil {
		return err
	}
	read, err := client.Feeds.SyncAndWait(ctx, shop.ID, nil)
	if err != nil {
		return err
	}
	fmt.Println(read.State, read.Created, read.Refused)
	for _, refusal := range read.Refusals {
		fmt.Println(refusal.Row, refusal.Member, refusal.Reason)
	}
	return nil
}
