"""Skeletal motion of rigged characters, distilled from videos or from a video diffusion model."""
