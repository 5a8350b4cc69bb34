// Command post makes a post from a brief, and prints the address of its picture. SVC_API_KEY has the key, BASE_URL the
// address of the API.
package main

import (
	"context"
	"fmt"
	"log"

	contentautomation "github.com/content-automation/api/clients/go"
)

func main() {
	ctx := context.Background()
	client, err := contentautomation.New()
	if err != nil {
		log.Fatal(err)
	}
	factory, err := client.Factories.Create(ctx, contentautomation.BrandFactoryCreate{Name: "Acme",
		Settings: contentautomation.BrandSettingsInput{BrandName: "Acme"}})
	if err != nil {
		log.Fatal(err)
	}
	queued, err := client.Content.Create(ctx, contentautomation.ContentItemCreate{FactoryID: factory.ID,
		Kind: contentautomation.ContentKindPost, Prompt: contentautomation.Ptr("Our new trail running shoe, made of recycled nets")})
	if err != nil {
		log.Fatal(err)
	}
	item, err := client.Content.WaitFor(ctx, queued.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(item.Title, item.Media[0].URL)
}
