"""The inflated U-Net: published layout, exact inflation, and what steers it."""

from dataclasses import replace

import pytest
import torch

from atop_backend.diffusion.unet import IMAGEDREAM, TINY, MultiViewVideoUNet


def build(seed=0, **changes):
    torch.manual_seed(seed)
    return MultiViewVideoUNet(replace(TINY, **changes))


def clip(frames=3, batch=2, views=4, size=8):
    generator = torch.Generator().manual_seed(1)

    def draws(*shape):
        return torch.randn(shape, generator=generator)

    mask = torch.zeros(batch, views, 1, 8 * size, 8 * size)
    mask[..., 10:30, 10:30] = 1
    return {
        "latents": draws(batch, views, frames, 4, size, size),
        "timestep": torch.tensor([0.7, 0.3]),
        "text": draws(batch, 6, TINY.context_dim),
        "image": draws(batch, views, TINY.ip_dim, TINY.context_dim),
        "cameras": draws(batch, views, 16),
        "mask": mask,
        "frames": torch.linspace(1 / frames, 1, frames).expand(batch, frames),
        "rest_latents": draws(batch, views, 4, size, size),
    }


def awake(net):
    """The net with its zero layers filled, as after some training."""
    generator = torch.Generator().manual_seed(5)
    for name, parameter in net.named_parameters():
        if "temporal" in name and not parameter.any():
            parameter.data.normal_(std=0.3, generator=generator)
    return net


def test_the_image_part_has_exactly_the_published_tensors():
    with torch.device("meta"):
        imagedream = MultiViewVideoUNet(IMAGEDREAM).image_state()
        mvdream = MultiViewVideoUNet(replace(IMAGEDREAM, with_ip=False)).image_state()
    assert len(imagedream) == 773
    assert sum(value.numel() for value in imagedream.values()) == 941_672_900
    assert len(mvdream) == 690
    assert sum(value.numel() for value in mvdream.values()) == 867_572_164


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("input_blocks.0.0.weight", (320, 4, 3, 3)),
        ("input_blocks.4.0.skip_connection.weight", (640, 320, 1, 1)),
        ("input_blocks.6.0.op.weight", (640, 640, 3, 3)),
        ("input_blocks.8.1.transformer_blocks.0.attn2.to_k_ip.weight", (1280, 1024)),
        ("input_blocks.1.1.transformer_blocks.0.attn1.to_out.0.bias", (320,)),
        ("middle_block.1.transformer_blocks.0.ff.net.0.proj.weight", (10240, 1280)),
        ("output_blocks.2.1.conv.weight", (1280, 1280, 3, 3)),
        ("output_blocks.5.2.conv.weight", (1280, 1280, 3, 3)),
        ("output_blocks.0.0.in_layers.0.weight", (2560,)),
        ("output_blocks.11.0.out_layers.3.weight", (320, 320, 3, 3)),
        ("out.2.weight", (4, 320, 3, 3)),
        ("camera_embed.0.weight", (1280, 16)),
        ("image_embed.latents", (1, 16, 1024)),
        ("image_embed.layers.3.0.to_kv.weight", (1536, 1024)),
        ("image_embed.layers.0.1.3.weight", (1024, 4096)),
    ],
)
def test_published_names_and_shapes(name, shape):
    with torch.device("meta"):
        assert MultiViewVideoUNet(IMAGEDREAM).image_state()[name].shape == shape


@pytest.mark.parametrize("mode", ["full", "first_frame_only", "first_frame_tokens"])
def test_before_training_the_video_net_equals_the_image_net_on_every_frame(mode):
    video = build(temporal=mode, rest_frame=False).eval()
    image = build(temporal=None, rest_frame=False).eval()
    image.load_state_dict(video.image_state())
    inputs = clip()
    with torch.no_grad():
        together = video(**inputs)
        assert torch.equal(together, image(**inputs))  # bit for bit
        for frame in range(3):
            alone = image(
                **{
                    **inputs,
                    "latents": inputs["latents"][:, :, frame : frame + 1],
                    "frames": inputs["frames"][:, frame : frame + 1],
                }
            )
            torch.testing.assert_close(together[:, :, frame], alone[:, :, 0], atol=1e-5, rtol=1e-5)


def test_before_training_a_clean_rest_frame_changes_nothing():
    with_rest, without = build().eval(), build(rest_frame=False).eval()
    without.load_state_dict(with_rest.state_dict())
    inputs = clip()
    with torch.no_grad():
        torch.testing.assert_close(with_rest(**inputs), without(**inputs), atol=1e-5, rtol=1e-5)


def test_after_training_frames_know_each_other_and_their_order():
    net = awake(build(rest_frame=False)).eval()
    inputs = clip()
    with torch.no_grad():
        before = net(**inputs)
        latents = inputs["latents"].clone()
        latents[:, :, 2] += 1
        assert (net(**{**inputs, "latents": latents}) - before)[:, :, 0].abs().max() > 1e-4
        order = [2, 0, 1]
        shuffled = net(**{**inputs, "latents": inputs["latents"][:, :, order]})
        assert (shuffled - before[:, :, order]).abs().max() > 1e-4


@pytest.mark.parametrize("name", ["mask", "cameras", "text", "image", "frames", "rest_latents"])
def test_every_condition_reaches_the_answer(name):
    net = awake(build()).eval()
    inputs = clip()
    changed = inputs[name].flip(-1) if name == "mask" else inputs[name] * 0.5
    with torch.no_grad():
        difference = net(**{**inputs, name: changed}) - net(**inputs)
    assert difference.abs().max() > 1e-5


def test_equation_7_to_the_letter_gives_its_queries_no_gradient():
    """One key at each place: the reason why it is not the default."""
    net = awake(build(temporal="first_frame_only"))
    net(**clip()).square().mean().backward()
    queries = [p for name, p in net.named_parameters() if name.endswith("temporal.to_q.weight")]
    assert all(p.grad.abs().max() < 1e-7 for p in queries)

    net = awake(build(temporal="full"))
    net(**clip()).square().mean().backward()
    queries = [p for name, p in net.named_parameters() if name.endswith("temporal.to_q.weight")]
    assert all(p.grad.abs().max() > 1e-7 for p in queries)


@pytest.mark.parametrize(("trained", "extra"), [("paper", 0), ("paper_code", 2)])
def test_finetuning_takes_the_temporal_blocks_and_the_query_projections(trained, extra):
    net = build()
    names = {name for name, _ in net.trained_parameters(trained)}
    blocks = sum(name.endswith("attn1.to_q.weight") for name in names)
    others = {name for name in names if "temporal" not in name}
    assert len(others) == blocks * (2 + extra)
    assert all("to_q" in name or "_ip" in name for name in others)
    assert {name for name in net.state_dict() if "temporal" in name} <= names


def test_recomputing_blocks_gives_the_same_gradients():
    gradients = []
    for checkpointing in (False, True):
        net = awake(build())
        net.checkpointing = checkpointing
        net(**clip(frames=2)).square().mean().backward()
        gradients.append(net.input_blocks[0][0].weight.grad)
    torch.testing.assert_close(*gradients)


def test_one_clip_can_be_learned_through_the_trained_parameters_alone():
    torch.manual_seed(0)
    net = build()
    net.requires_grad_(False)
    chosen = [parameter.requires_grad_() for _, parameter in net.trained_parameters("paper")]
    optimiser = torch.optim.Adam(chosen, lr=1e-2)
    inputs = clip(frames=2, batch=2, views=2)
    with torch.no_grad():
        wanted = net(**inputs) + 0.3 * torch.randn(inputs["latents"].shape)
    losses = []
    for _ in range(20):
        loss = (net(**inputs) - wanted).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]
    frozen = [p for name, p in net.named_parameters() if not p.requires_grad]
    assert all(parameter.grad is None for parameter in frozen)
