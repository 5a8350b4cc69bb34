"""The main job with the client that openapi-python-client makes."""

import os
import time
from http import HTTPStatus

from client import AuthenticatedClient
from client.api.content import create_content_item, get_content_item
from client.api.events import list_events
from client.api.factories import create_factory, get_factory, update_factory
from client.models import (
    BrandFactory,
    BrandSettingsInput,
    ContentGeneratedEvent,
    ContentItem,
    PromptItemCreate,
    ContentItemResponse,
    ContentKindInput,
    EventList,
    FactoryResponse,
    FactoryUpdate,
    MusicianFactory,
    MusicianSettingsInput,
    MusicianSettingsUpdate,
    BrandFactoryCreate,
    BrandFactoryCreateType,
    MusicianFactoryCreate,
    MusicianFactoryCreateType,
    NotFoundResponse,
    ValidationFailedError,
)

api = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["SVC_TEST_KEY"])

with api:
    created = create_factory.sync(
        client=api,
        body=MusicianFactoryCreate(
            type_=MusicianFactoryCreateType.MUSICIAN,
            name="The Examples",
            settings=MusicianSettingsInput(artist_name="The Examples", genres=["indie pop", "folk"]),
        ),
    )
    assert isinstance(created, FactoryResponse), created
    factory = created.data
    # The type of a factory decides the type of its settings.
    assert not isinstance(factory, BrandFactory)
    assert isinstance(factory, MusicianFactory)
    assert factory.settings.genres == ["indie pop", "folk"]

    changed = update_factory.sync(
        factory.id, client=api, body=FactoryUpdate(settings=MusicianSettingsUpdate(mood="calm", lyrics_language=None))
    )
    assert isinstance(changed, FactoryResponse), changed
    assert isinstance(changed.data, MusicianFactory)
    assert changed.data.settings.mood == "calm"

    order = PromptItemCreate(factory_id=factory.id, kind=ContentKindInput.POST, prompt="Our first concert")
    accepted = create_content_item.sync(client=api, body=order, idempotency_key=f"{factory.id}-1")
    assert isinstance(accepted, ContentItemResponse), accepted
    item = accepted.data
    again = create_content_item.sync(client=api, body=order, idempotency_key=f"{factory.id}-1")
    assert isinstance(again, ContentItemResponse) and again.data.id == item.id

    deadline = time.monotonic() + 60
    while item.state in ("queued", "generating") and time.monotonic() < deadline:
        time.sleep(0.25)
        read = get_content_item.sync(item.id, client=api)
        assert isinstance(read, ContentItemResponse), read
        item = read.data
    assert item.state == "generated"
    assert item.media[0].role == "final"

    # A later version of the service may return values and members that the document lacks.
    later = ContentItem.from_dict({**item.to_dict(), "state": "resting", "colour": "red"})
    assert later.state == "resting" and later.additional_properties["colour"] == "red"

    events = list_events.sync(client=api)
    assert isinstance(events, EventList), events
    # The type of an event decides the type of its object.
    about = [e.data.object_ for e in events.data if isinstance(e, ContentGeneratedEvent)]
    assert [o.caption for o in about if o.id == item.id] == [item.caption]

    refused = create_factory.sync_detailed(
        client=api, body=BrandFactoryCreate(type_=BrandFactoryCreateType.BRAND, name="", settings=BrandSettingsInput(brand_name="Acme"))
    )
    assert refused.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert refused.parsed is not None and not isinstance(refused.parsed, FactoryResponse)
    error = refused.parsed.error
    assert isinstance(error, ValidationFailedError)
    assert error.code == "validation_failed" and error.param == "/name"

    unknown = get_factory.sync("fac_01h455vb4pex5vsknk084sn02q", client=api)
    assert isinstance(unknown, NotFoundResponse) and unknown.error.code == "not_found"
print("done")
